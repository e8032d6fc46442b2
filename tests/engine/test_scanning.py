"""The scanners and their table of pre-tokens, held to the `regex` module."""

from __future__ import annotations

import gzip
import json
import threading
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine import (
    compiled,
    corpus,
    kernels_batches,
    kernels_counting,
    kernels_keys,
    kernels_scanning,
    mapped_text,
    scanning,
)
from bpe_viz.engine.character_classes import character_classes, kinds_of_all_points
from bpe_viz.engine.compiled import PLAIN, Kernels
from bpe_viz.engine.corpus import Corpus, bytes_to_scan, count_paths
from bpe_viz.engine.mapped_text import safe_pieces
from bpe_viz.engine.pretoken_counts import PretokenCounts
from bpe_viz.engine.pretokenize import PRETOKENIZERS, pretokenizer_for, split_lines
from bpe_viz.engine.scanning import PretokenTable, ScanningTally, rule_for
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import Stopped

NAMED = pytest.mark.parametrize("name", PRETOKENIZERS)
DOCUMENTS = pytest.mark.parametrize("documents", ["file", "line"])

# What the patterns tell apart, and what looks like it: contractions in both cases, long s, Kelvin, curly
# apostrophes, capitals, title case, letters without case, marks, digits of all kinds, white space of all kinds, NUL.
SIGNS = [
    *"aBéßΣσǅ字ﷺʰ\u0301\u20dd1２½Ⅷ.,!/-_@ \t\n\r\v\x1c\x85\xa0\u2028\u3000\0😀\U00010400\U0001d7d8\u088f",
    *("'s", "'S", "'ſ", "'t", "'re", "'RE", "'vE", "'ll", "'l", "'m", "'D", "'", "’s", "ſ", "\u212a", "\r\n"),
    *(" ", " ", "\n", "  "),
]
TEXTS = st.one_of(
    st.lists(st.sampled_from(SIGNS), max_size=40).map("".join),
    st.text(max_size=30),  # code points of every class
)


EVERYTHING = "".join(map(chr, range(0x110000)))


@pytest.fixture(scope="module")
def fast() -> Kernels:
    return compiled.load()


@pytest.fixture
def scans_all(monkeypatch):
    """Scan small files too."""
    monkeypatch.setattr(corpus, "WORTH_SCANNING", 0)


@cache
def options_for(name: str, documents: str) -> CountingOptions:
    return CountingOptions(pretokenizer=name, documents=documents)  # type: ignore[arg-type]  # one of two


def by_pattern(text: str, options: CountingOptions) -> list[str]:
    """Cut by the definition: the whole text at once, or a loop over its lines."""
    parts = split_lines(text) if options.documents == "line" else [text]
    return [pretoken for part in parts for pretoken in pretokenizer_for(options).split(part)]


def by_scanner(text: str, options: CountingOptions, kernel_set: Kernels) -> list[str]:
    rule = rule_for(options)
    kernels = kernel_set.of(kernels_scanning)
    content = text.encode()
    data, classes = kernel_set.view((np.frombuffer(content, dtype=np.uint8), character_classes()))
    found, at = [], 0
    while at < len(content):
        if options.pretokenizer == "whitespace":
            at = kernels.run_end(classes, data, at, len(content), kernels_scanning.SPACE)
            if at == len(content):
                break
        end = kernels.pretoken_end(rule, classes, data, at, len(content))
        found.append(content[at:end].decode())
        at = end
    return found


def items(pretokens: PretokenCounts) -> list[tuple[bytes, int]]:
    return [(pretokens.content(row), int(pretokens.counts[row])) for row in range(len(pretokens))]


def alike(one: Corpus, other: Corpus) -> bool:
    facts = ("name", "n_bytes", "n_characters", "n_pretokens", "notes", "excerpt", "is_table", "sources")
    same = all(getattr(one, fact) == getattr(other, fact) for fact in facts)
    return same and items(one.pretokens) == items(other.pretokens)


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


class TestClasses:
    @pytest.mark.parametrize(
        ("pattern", "kind"),
        [
            (r"\p{L}", kernels_scanning.LETTER),
            (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", kernels_scanning.UPPER),
            (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", kernels_scanning.LOWER),
            (r"\p{N}", kernels_scanning.NUMBER),
            (r"\s", kernels_scanning.SPACE),
            (r"[\r\n]", kernels_scanning.NEWLINE),
            (r"[^\s\p{L}\p{N}]", kernels_scanning.OTHER),
        ],
    )
    def test_every_code_point_has_the_class_that_regex_gives_it(self, pattern, kind):
        expected = np.zeros(0x110000, dtype=bool)
        for match in regex.finditer(f"{pattern}+", EVERYTHING):
            expected[match.start() : match.end()] = True
        assert np.array_equal(kinds_of_all_points() & kind != 0, expected)

    def test_the_table_holds_every_code_point_under_its_bytes(self, fast):
        kinds, kernels, classes = kinds_of_all_points(), fast.of(kernels_scanning), character_classes()
        for points in (range(0xD800), range(0xE000, 0x110000, 7)):
            data = np.frombuffer("".join(map(chr, points)).encode(), dtype=np.uint8)
            at = 0
            for point in points:
                found = kernels.character(classes, data, at)
                assert found & 0xFF == kinds[point]
                at += found >> kernels_scanning.SIZE_SHIFT
            assert at == len(data)

    @pytest.mark.parametrize("contractions", [0, kernels_scanning.ANY_CASE])
    def test_contractions_fold_case_as_regex_does(self, contractions):
        flag = "(?i)" if contractions else ""
        folds = {letter: set(regex.findall(flag + letter, EVERYTHING)) for letter in "stmdrevl"}
        assert folds["s"] == ({"s", "S", "ſ"} if contractions else {"s"})
        whole = folds["s"] | folds["t"] | folds["m"] | folds["d"]
        pairs = {a + b for pair in ("re", "ve", "ll") for a in folds[pair[0]] for b in folds[pair[1]]}
        for first in map(chr, (*range(0xD800), *range(0xE000, 0x110000))):
            # A second sign is tried where it can matter: after those that start a contraction.
            starts = first.lower() in "rvl"
            for second in ["", *map(chr, range(0x250)), "ſ", "\u212a"] if starts else [""]:
                data = f"'{first}{second}".encode()
                length = kernels_scanning.contraction(contractions, data, 0, len(data))
                expected = first if first in whole else first + second if first + second in pairs else None
                assert length == (0 if expected is None else 1 + len(expected.encode()))


class TestScanners:
    @NAMED
    @DOCUMENTS
    @given(text=TEXTS)
    def test_random_text_is_cut_as_the_pattern_cuts_it(self, name, documents, text):
        options = options_for(name, documents)
        assert by_scanner(text, options, PLAIN) == by_pattern(text, options)

    @NAMED
    @given(text=TEXTS)
    def test_compiled_and_plain_scanners_cut_alike(self, name, fast, text):
        options = options_for(name, "file")
        assert by_scanner(text, options, fast) == by_scanner(text, options, PLAIN)

    @NAMED
    @DOCUMENTS
    def test_real_text_is_cut_as_the_pattern_cuts_it(self, name, documents, shared, fast):
        options = options_for(name, documents)
        paths = [path for path in sorted((shared / "data" / "text").rglob("*")) if path.is_file()]
        assert paths
        for path in paths:
            text = path.read_bytes().decode(errors="replace")
            assert by_scanner(text, options, fast) == by_pattern(text, options), path.name

    @NAMED
    @DOCUMENTS
    @given(text=TEXTS)
    def test_every_safe_cut_leaves_the_pretokens_alone(self, name, documents, text):
        options = options_for(name, documents)
        rule, content = rule_for(options), text.encode()
        whole = by_pattern(text, options)
        for end in range(len(content) + 1):
            cut = kernels_scanning.last_safe_cut(rule, memoryview(character_classes()), content, 0, end)
            if cut > 0:
                before, after = content[:cut].decode(), content[cut:].decode()
                assert by_pattern(before, options) + by_pattern(after, options) == whole

    def test_a_users_pattern_has_no_scanner(self):
        assert rule_for(CountingOptions(pattern=r"\S+")) is None
        assert all(rule_for(options_for(name, "file")) for name in PRETOKENIZERS)


class TestValidity:
    @given(data=st.one_of(st.binary(max_size=80), TEXTS.map(str.encode)), cut=st.integers(0, 80), tail=st.binary())
    def test_bytes_are_valid_up_to_where_python_decodes_them(self, data, cut, tail):
        data = b"a" * (cut % 40) + data[:cut] + tail
        try:
            data.decode()
            expected = len(data)
        except UnicodeDecodeError as error:
            expected = error.start
        assert kernels_scanning.valid_until(data, 0, len(data)) == expected
        text = data[:expected].decode()
        assert kernels_scanning.count_characters(data, 0, expected) == len(text)

    def test_every_pair_of_first_bytes_is_judged_as_python_does(self):
        for tail in (b"", b"\x80", b"\x80\x80", b"\xbfa"):
            for head in range(0xC000, 0x10000):
                data = head.to_bytes(2, "big") + tail
                try:
                    data.decode()
                    expected = len(data)
                except UnicodeDecodeError as error:
                    expected = error.start
                assert kernels_scanning.valid_until(data, 0, len(data)) == expected


class TestTable:
    @given(texts=st.lists(TEXTS, max_size=8), room=st.integers(1, 5))
    def test_it_grows_from_any_size(self, texts, room):
        options = options_for("gpt2", "file")
        table = PretokenTable(PLAIN, room)
        count_in_turn(texts, options, [table])
        assert items(table.counts()) == expected_items(texts, options)

    @given(texts=st.lists(TEXTS, max_size=8), room=st.integers(1, 5), turned=st.booleans())
    def test_two_that_are_merged_count_as_one(self, texts, room, turned):
        options = options_for("gpt2", "file")
        tables = [PretokenTable(PLAIN, room), PretokenTable(PLAIN, 3)]
        count_in_turn(texts, options, tables)
        if turned:
            tables.reverse()
        tables[0].merge(tables[1])
        assert items(tables[0].counts()) == expected_items(texts, options)

    def test_pretokens_of_one_key_are_told_apart_by_their_bytes(self, monkeypatch):
        key = (1, kernels_keys.LONG_KEY << 56 | 15)
        monkeypatch.setattr(kernels_batches, "key_of", lambda data, at, n: key)
        table = PretokenTable(PLAIN, 1)
        text = b" ".join(word * 15 for word in (b"a", b"b", b"c", b"b", b"a"))
        data = np.frombuffer(text, dtype=np.uint8)
        table.count(kernels_scanning.WORDS, scanning.Piece(data, 0, len(data), 0), lambda: None)
        assert items(table.counts()) == [(b"a" * 15, 2), (b"b" * 15, 2), (b"c" * 15, 1)]


def count_in_turn(texts, options, tables):
    """Count each text in the next table."""
    position = 0
    for number, text in enumerate(texts):
        data = np.frombuffer(text.encode(), dtype=np.uint8)
        piece = scanning.Piece(data, 0, len(data), position)
        tables[number % len(tables)].count(rule_for(options), piece, lambda: None)
        position += len(data)


def expected_items(texts, options):
    expected = Counter(pretoken for text in texts for pretoken in by_pattern(text, options))
    return [(pretoken.encode(), count) for pretoken, count in expected.items()]


class TestPieces:
    @NAMED
    @DOCUMENTS
    @given(text=TEXTS, block=st.integers(4, 12))
    def test_pieces_of_a_file_have_the_pretokens_of_the_whole(self, name, documents, text, block):
        options = options_for(name, documents)
        content = text.encode()
        data = np.frombuffer(content, dtype=np.uint8)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mapped_text, "BLOCK_BYTES", block)
            pieces = list(safe_pieces(data, rule_for(options), PLAIN))
        parts = [content[start:end].decode() for start, end, _ in pieces]
        assert "".join(parts) == text
        assert [n_characters for _, _, n_characters in pieces] == list(map(len, parts))
        assert [pretoken for part in parts for pretoken in by_pattern(part, options)] == by_pattern(text, options)

    @given(before=TEXTS, block=st.integers(4, 12), after=TEXTS)
    def test_pieces_end_before_what_is_not_utf8(self, before, block, after):
        data = np.frombuffer(before.encode() + b"\xff" + after.encode(), dtype=np.uint8)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mapped_text, "BLOCK_BYTES", block)
            pieces = list(safe_pieces(data, rule_for(options_for("gpt2", "file")), PLAIN))
        assert not pieces or pieces[-1][1] <= len(before.encode())


class TestThreads:
    @NAMED
    @DOCUMENTS
    def test_their_number_does_not_change_the_result(self, name, documents, shared, fast, scans_all, monkeypatch):
        monkeypatch.setattr(mapped_text, "BLOCK_BYTES", 1000)
        monkeypatch.setattr(scanning, "HANDED_BYTES", 1000)
        monkeypatch.setattr(scanning, "STEP_BYTES", 300)
        monkeypatch.setattr(scanning, "FIRST_PRETOKENS", 5)
        paths = sorted((shared / "data" / "text").glob("*.txt"))
        options = options_for(name, documents)
        expected = count_paths(paths, options)
        for threads in (1, 2, 3, 4, None):
            assert alike(count_paths(paths, options, kernel_set=fast, threads=threads), expected)

    @given(texts=st.lists(TEXTS, max_size=6), threads=st.integers(1, 4))
    def test_plain_kernels_on_threads_count_the_same(self, texts, threads):
        options = options_for("cl100k", "file")
        expected = Counter(pretoken for text in texts for pretoken in by_pattern(text, options))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scanning, "HANDED_BYTES", 1)
            tally = ScanningTally(rule_for(options), PLAIN, threads)
            for text in texts:
                tally.add(text)
            counted = tally.counts()
            tally.close()
        assert items(counted) == [(pretoken.encode(), count) for pretoken, count in expected.items()]

    def test_what_fails_in_a_thread_fails_where_texts_are_handed_over(self, fast, monkeypatch):
        def fail(*_):
            raise MemoryError

        monkeypatch.setattr(PretokenTable, "count", fail)
        with ScanningTally(kernels_scanning.WORDS, fast, 2) as tally:
            tally.add("low")
            with pytest.raises(MemoryError):
                tally.counts()

    @pytest.mark.parametrize("threads", [1, 2])
    def test_stop_ends_all_threads(self, tmp_path, fast, threads):
        path = write(tmp_path / "a.txt", "low lower lowest\n" * 500_000)
        before = threading.active_count()
        asked = iter([False] * 4 + [True] * 100)
        with pytest.raises(Stopped):
            count_paths([path], CountingOptions(), should_stop=lambda: next(asked), kernel_set=fast, threads=threads)
        assert threading.active_count() == before


class TestFiles:
    """What is not plain UTF-8 goes the other way, with equal results."""

    def both_ways(self, paths, fast, options=None):
        options = options or CountingOptions()
        expected = count_paths(paths, options)
        scanned = count_paths(paths, options, kernel_set=fast, threads=2)
        assert alike(scanned, expected), (scanned, expected)
        return expected

    @pytest.mark.parametrize(
        "content",
        [
            "low lower\n" * 50 + "Ende",
            b"low \xff lower\n" * 3,
            b"low lower \xc3\xa9t\xc3\xa9\n" * 400 + b"caf\xe9 low" + b" l\xc3\xa9" * 500,
            b"low lower caf\n" * 300 + b"caf\xe9 cr\xe8me \xe0 la carte\n" * 40,
            b"low lower \xc3\xa9t\xc3",
            "\ufefflow lower".encode(),
            "low lower été".encode("utf-16"),
            "low lower lowest".encode("utf-16-le"),
            b"low\0lower\0\0low",
            " \n\t\r\n\u2003" * 500,
            " \n" * 1000 + "low",
            "字" * 2000 + "\n" + "字" * 10,
        ],
    )
    @DOCUMENTS
    def test_any_encoding(self, tmp_path, fast, scans_all, monkeypatch, content, documents):
        monkeypatch.setattr(mapped_text, "BLOCK_BYTES", 1000)
        path = write(tmp_path / "a.txt", content)
        self.both_ways([path], fast, options_for("gpt2", documents))
        self.both_ways([path], fast, options_for("whitespace", documents))

    def test_compressed_and_json_lines_and_folders(self, tmp_path, fast, scans_all):
        (tmp_path / "d").mkdir()
        write(tmp_path / "d" / "a.txt", "low lower\n" * 9)
        write(tmp_path / "d" / "b.txt.gz", gzip.compress(b"lower low " * 9))
        write(tmp_path / "d" / "c.jsonl", "\n".join(json.dumps({"text": text}) for text in ("low ", " new", "low")))
        write(tmp_path / "d" / "d.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
        write(tmp_path / "d" / "e.txt", b"")
        expected = self.both_ways([tmp_path / "d"], fast)
        assert len(expected.notes) == 2

    @pytest.mark.parametrize(
        "options",
        [
            CountingOptions(normalize=("NFD", "lowercase")),
            CountingOptions(special_tokens=("<s>", "w\n")),
            CountingOptions(pattern=r"\w+"),
            CountingOptions(special_tokens=("<s>",), documents="line", pretokenizer="o200k"),
        ],
    )
    def test_options_that_need_the_text(self, tmp_path, fast, scans_all, options):
        self.both_ways([write(tmp_path / "a.txt", "Low <s> LÖWER low\n" * 50)], fast, options)

    def test_small_input_is_not_scanned(self, tmp_path, fast, monkeypatch):
        monkeypatch.setattr(PretokenTable, "count", None)
        count_paths([write(tmp_path / "a.txt", "low")], CountingOptions(), kernel_set=fast)

    def test_only_what_scanners_count_is_worth_compiling_them(self, tmp_path):
        text = write(tmp_path / "a.txt", "low")
        table = write(tmp_path / "a.tsv", "low\t5\n")
        assert bytes_to_scan([text], CountingOptions()) == 3
        assert bytes_to_scan([text], CountingOptions(pattern="a")) == 0
        assert bytes_to_scan([table], CountingOptions()) == 0

    def test_progress_goes_from_nothing_to_all(self, tmp_path, fast):
        path = write(tmp_path / "a.txt", "low lower lowest\n" * 300_000)
        reports: list[tuple[float, str]] = []
        count_paths([path], CountingOptions(), lambda *report: reports.append(report), kernel_set=fast)
        parts = [part for part, _ in reports]
        assert parts == sorted(parts)
        assert reports[-1] == (1.0, "Counting a.txt")


def test_the_cache_holds_every_kernel_that_counting_calls(tmp_path, fast, scans_all):
    def signatures():
        modules = (fast.of(kernels_scanning), fast.of(kernels_counting))
        kernels = [one for module in modules for one in vars(module).values() if hasattr(one, "signatures")]
        return sum(len(kernel.signatures) for kernel in kernels)

    scanning.call_every_kernel(fast)
    before = signatures()
    path = write(tmp_path / "a.txt", "".join(f"low{i} é\n" for i in range(200_000)))
    count_paths([path], CountingOptions(), kernel_set=fast, threads=2)
    assert signatures() == before
