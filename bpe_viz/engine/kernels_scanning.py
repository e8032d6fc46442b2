"""Where pre-tokens of the named pretokenizers end, found in UTF-8 byte by byte.

Every function is plain Python over flat arrays and is run in two ways, as it stands and compiled: see kernels.py.
One scanner serves all patterns of the GPT family: they differ in a few choices, which stand in its rule. What they
call a letter, number or white space is looked up in one table of character classes (character_classes.py).

Text handed to a scanner is valid UTF-8 (valid_until tells), starts where a pre-token starts and is taken to end at
`end`. No pattern here looks back, so scanning may be broken off and taken up at any pre-token's start.
"""

from __future__ import annotations

from typing import Any

# A NumPy array (compiled) or a memoryview of one (plain): both are indexed and assigned alike.
Array = Any

# What a code point is, one bit each. LETTER, NUMBER, BLANK, NEWLINE and OTHER exclude each other; UPPER and LOWER
# are the two classes that cut words in o200k, both of which hold letters without case and marks. LONG_S is U+017F
# alone, which is an s in any case.
LETTER, UPPER, LOWER, NUMBER, BLANK, NEWLINE, OTHER, LONG_S = 1, 2, 4, 8, 16, 32, 64, 128
SPACE = BLANK | NEWLINE
INK = LETTER | NUMBER | OTHER
SIZE_SHIFT = 8
IN_CLASS = (1 << SIZE_SHIFT) - 1
# character() answers the class and, above it, how many bytes the character takes

# The table of classes, one array so that a call passes little: (blocks * 256,) uint8. Its first 17 blocks hold, for
# each code point >> 8, which block holds the bits LETTER ... OTHER of these 256 points; the block after them is the
# first of those, and begins with ASCII.
BLOCK_BITS = 8
IN_BLOCK = 255
ASCII = 17 << BLOCK_BITS

LF, CR, BLANK_BYTE, APOSTROPHE, SLASH = 10, 13, 32, 39, 47

# How a pretokenizer differs from the others, one bit each; together they are its rule.
LINES = 1  # a pre-token is a line
WORDS = 2  # a pre-token is a run of anything but white space; else it is what a pattern of the GPT family matches
CONTRACTIONS = 4  # 's, 't and so on are pre-tokens of their own, or with CASED the end of one
ANY_CASE = 8  # and 'S, 'T and so on, too
ANY_PREFIX = 16  # a word may start with any character but line ends, letters and numbers; else with a blank only
CASED = 32  # a word is capitals and then small letters
ONE_DIGIT = 64  # a number is one digit; without this and the next, any number of them, with a blank before them
THREE_DIGITS = 128  # a number is at most three digits
TAKES_NEWLINES = 256  # punctuation takes the line ends after it, white space is cut after its last line end
TAKES_SLASHES = 512  # and slashes among them
BY_LINE = 1024  # the text ends at each newline

STRIDE = 32  # bytes of ASCII that are passed over at once


def character(classes: Array, data: Array, at: int) -> int:
    """Return the class of the character at a byte, with its size in bytes << SIZE_SHIFT."""
    lead = data[at]
    if lead < 0x80:
        return classes[ASCII + lead] | 1 << SIZE_SHIFT  # type: ignore[no-any-return]  # an integer
    point, size = point_beyond_ascii(data, at)
    block = classes[point >> BLOCK_BITS]
    return classes[block << BLOCK_BITS | point & IN_BLOCK] | size << SIZE_SHIFT  # type: ignore[no-any-return]


def point_beyond_ascii(data: Array, at: int) -> tuple[int, int]:
    """Return the code point that begins at a byte from 0x80 on, and its size in bytes."""
    lead = data[at]
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | data[at + 1] & 0x3F, 2
    if lead < 0xF0:
        return (lead & 0x0F) << 12 | (data[at + 1] & 0x3F) << 6 | data[at + 2] & 0x3F, 3
    return (lead & 0x07) << 18 | (data[at + 1] & 0x3F) << 12 | (data[at + 2] & 0x3F) << 6 | data[at + 3] & 0x3F, 4


def run_end(classes: Array, data: Array, at: int, end: int, kinds: int) -> int:
    """Return where a run of characters of these classes ends; it may be empty."""
    while at < end:
        lead = data[at]
        if lead < 0x80:
            if not classes[ASCII + lead] & kinds:
                return at
            at += 1
        else:
            found = character(classes, data, at)
            if not found & kinds:
                return at
            at += found >> SIZE_SHIFT
    return at


def pretoken_end(rule: int, classes: Array, data: Array, start: int, end: int) -> int:
    """Return where the pre-token ends that starts at `start`, which is before `end`."""
    if rule & WORDS:
        return run_end(classes, data, start, end, INK)
    if rule & LINES:
        return line_end(data, start, end)
    first = character(classes, data, start)
    after = start + (first >> SIZE_SHIFT)
    if first & LETTER:
        if rule & CASED:
            return cased_word_end(rule, classes, data, start, start, end, 0)
        return run_end(classes, data, after, end, LETTER)
    if first & NUMBER:
        return number_end(rule, classes, data, after, end)
    if rule & CONTRACTIONS and not rule & CASED and data[start] == APOSTROPHE:
        length = contraction(rule, data, start, end)
        if length:
            return start + length
    second = character(classes, data, after) if after < end else 0
    is_blank = data[start] == BLANK_BYTE
    if is_blank or (rule & ANY_PREFIX and not first & NEWLINE):
        if rule & CASED:
            if (first | second) & (UPPER | LOWER):
                return cased_word_end(rule, classes, data, start, after, end, first & UPPER)
        elif second & LETTER:
            return run_end(classes, data, after + (second >> SIZE_SHIFT), end, LETTER)
    if first & OTHER or (is_blank and second & OTHER):
        return punctuation_end(rule, classes, data, after, end)
    if is_blank and not rule & (ONE_DIGIT | THREE_DIGITS) and second & NUMBER:
        return number_end(rule, classes, data, after, end)
    return space_end(rule, classes, data, start, end)


def line_end(data: Array, at: int, end: int) -> int:
    """Return where the line ends, its newline included."""
    while at < end:
        at += 1
        if data[at - 1] == LF:
            return at
    return at


def number_end(rule: int, classes: Array, data: Array, at: int, end: int) -> int:
    r"""Return where a number ends, of which one digit may stand before `at`: `\p{N}+` or `\p{N}{1,3}`."""
    if not rule & (ONE_DIGIT | THREE_DIGITS):
        return run_end(classes, data, at, end, NUMBER)
    for _ in range(2 if rule & THREE_DIGITS else 0):
        if at >= end:
            return at
        found = character(classes, data, at)
        if not found & NUMBER:
            return at
        at += found >> SIZE_SHIFT
    return at


def punctuation_end(rule: int, classes: Array, data: Array, at: int, end: int) -> int:
    r"""Return where punctuation ends, and what it takes with it: `[^\s\p{L}\p{N}]+[\r\n/]*`."""
    at = run_end(classes, data, at, end, OTHER)
    if not rule & TAKES_NEWLINES:
        return at
    while at < end:
        byte = data[at]
        if byte != CR and byte != LF and not (rule & TAKES_SLASHES and byte == SLASH):
            return at
        at += 1
        if byte == LF and rule & BY_LINE:
            return at
    return at


def space_end(rule: int, classes: Array, data: Array, start: int, end: int) -> int:
    r"""Return where white space ends: `\s*[\r\n]+|\s+(?!\S)|\s+`, the first alternative if the rule has it.

    Before ink the last character is left over, as it starts the next pre-token, unless it is the only one.
    """
    at = last = start
    newline_end = start
    while at < end:
        found = character(classes, data, at)
        if not found & SPACE:
            break
        last = at
        at += found >> SIZE_SHIFT
        if found & NEWLINE:
            newline_end = at
            if rule & BY_LINE and data[last] == LF:
                return at
    if rule & TAKES_NEWLINES and newline_end > start:
        return newline_end
    return at if at == end or last == start else last


def contraction(rule: int, data: Array, at: int, end: int) -> int:
    """Return how many bytes `'s|'t|'re|'ve|'m|'ll|'d` takes at `at`, 0 if it is none.

    In any case means, besides capitals, that U+017F (long s) is an s; nothing else folds to these letters.
    """
    if at + 1 >= end or data[at] != APOSTROPHE:
        return 0
    fold = 0x20 if rule & ANY_CASE else 0
    # Setting this bit makes a small letter of a capital one, and of nothing else that is asked for here.
    letter = data[at + 1] | fold
    if letter == 0x73 or letter == 0x74 or letter == 0x6D or letter == 0x64:  # s t m d
        return 2
    if at + 2 >= end:
        return 0
    second = data[at + 2] | fold
    if letter == 0x6C:  # ll
        return 3 if second == 0x6C else 0
    if letter == 0x72 or letter == 0x76:  # re ve
        return 3 if second == 0x65 else 0
    return 3 if fold and data[at + 1] == 0xC5 and data[at + 2] == 0xBF else 0


def cased_word_end(rule: int, classes: Array, data: Array, start: int, body: int, end: int, is_mark: int) -> int:
    """Return where a word of o200k ends, its contraction included, or what stands there when it is no word.

    body: where the letters start: at `start`, or after one character there
    is_mark: that one character is a mark, so that it is a word when no small letters follow it
    The pattern is U*L+ before U+L*, after an optional character; U and L both hold marks and letters without
    case, so U* gives back what it took too much: the word ends after the last such character.
    """
    at = body
    last_lower = start
    found = 0
    while at < end:
        found = character(classes, data, at)
        if not found & UPPER:
            break
        at += found >> SIZE_SHIFT
        if found & LOWER:
            last_lower = at
        found = 0
    if found & LOWER:
        at = run_end(classes, data, at, end, LOWER)
    elif last_lower > start:
        at = last_lower
    elif is_mark:
        at = body
    return at + contraction(rule, data, at, end)


def last_safe_cut(rule: int, classes: Array, data: Array, start: int, end: int) -> int:
    """Return the last place after `start`, up to `end`, where text may be cut without changing its pre-tokens.

    That is after a newline if lines are apart, else where pretokenize.py says: between ink and a blank, or a
    letter or number and white space. Returns `start` if there is none.
    """
    at = end
    while at > start:
        if rule & (BY_LINE | LINES):
            if data[at - 1] == LF:
                return at
            at -= 1
            continue
        before = at - 1
        while before > start and data[before] & 0xC0 == 0x80:
            before -= 1
        if at < end:
            kind = character(classes, data, before)
            follower = character(classes, data, at)
            if follower & SPACE and kind & (LETTER | NUMBER):
                return at
            if data[at] == BLANK_BYTE and kind & INK:
                return at
        at = before
    return start


def valid_until(data: Array, start: int, end: int) -> int:
    """Return up to where the bytes are valid UTF-8; a character that `end` cuts off is not."""
    at = ascii_end(data, start, end)
    while at < end:
        while at < end and data[at] >= 0x80:
            size = character_size(data, at, end)
            if not size:
                return at
            at += size
        at = ascii_end(data, at, end)
    return at


def ascii_end(data: Array, at: int, end: int) -> int:
    """Return where a run of ASCII ends."""
    while at + STRIDE <= end:
        bits = 0
        for i in range(at, at + STRIDE):
            bits |= data[i]
        if bits >= 0x80:
            break
        at += STRIDE
    while at < end and data[at] < 0x80:
        at += 1
    return at


def wanted_until(wanted: Array, data: Array, start: int, end: int) -> int:
    """Return up to where all characters beyond ASCII are wanted. wanted: (0x110000,) uint8, 1 for those that are."""
    at = ascii_end(data, start, end)
    while at < end:
        while at < end and data[at] >= 0x80:
            point, size = point_beyond_ascii(data, at)
            if wanted[point] != 1:
                return at
            at += size
        at = ascii_end(data, at, end)
    return at


def character_size(data: Array, at: int, end: int) -> int:
    """Return how many bytes the character beyond ASCII takes at `at`, 0 if it is not valid.

    Source: The Unicode Standard, table 3-7.
    """
    lead = data[at]
    if lead < 0xC2 or lead > 0xF4 or at + 1 >= end:
        return 0
    least, most = 0x80, 0xBF
    if lead == 0xE0:
        least = 0xA0
    elif lead == 0xED:
        most = 0x9F
    elif lead == 0xF0:
        least = 0x90
    elif lead == 0xF4:
        most = 0x8F
    if data[at + 1] < least or data[at + 1] > most:
        return 0
    size = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if at + size > end:
        return 0
    for i in range(at + 2, at + size):
        if data[i] & 0xC0 != 0x80:
            return 0
    return size


def count_characters(data: Array, start: int, end: int) -> int:
    """Count the code points of valid UTF-8."""
    characters = 0
    for i in range(start, end):
        characters += data[i] & 0xC0 != 0x80
    return characters
