"""How each pre-tokenizer of llama.cpp cuts a text: as llama.cpp itself did, whose ids were the same for all of them."""

from __future__ import annotations

import random

import pytest
import regex

from bpe_viz.engine.llama_cpp_cutting import Passes, newer_characters
from bpe_viz.engine.pretokenize import PRETOKENIZERS as NAMED
from bpe_viz.formats._llama_cpp_pretokenizers import PRETOKENIZERS

PROBE = (
    "It's we'LL  HTTPServer's Straße\u0301 x\u0323y 1234567 ٣1２ \n\n  a/b!!\r\n"
    "\t\tконец字漢かな \u1c8a（ok）\u3000 ok."
)
CUT = {
    "gpt-2": (
        "It|'s| we|'|LL| | HTTPServer|'s| Straße|\u0301| x|\u0323|y| 1234567| ٣1２| \n\n | a|/|b|!!|\r\n\t|"
        "\t|конец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "llama3": (
        "It|'s| we|'LL| | HTTPServer|'s| Straße|\u0301| x|\u0323y| |123|456|7| |٣1２| \n\n| | a|/b|!!\r\n|"
        "\t|\tконец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "minicpm5": (
        "It|'s| we|'LL| | HTTPServer|'s| Straße|\u0301| x|\u0323y| |123|456|7| |٣1２| \n\n| | a|/b|!!\r\n|"
        "\t|\tконец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "jais-2": (
        "It|'s| we|'LL| | HTTPServer|'s| Straße|\u0301| x|\u0323y| |123|456|7| |٣1２| \n\n| | a|/b|!!\r\n|"
        "\t|\tконец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "qwen2": (
        "It|'s| we|'LL| | HTTPServer|'s| Straße|\u0301| x|\u0323y| |1|2|3|4|5|6|7| |٣|1|２| \n\n| | a|/b|"
        "!!\r\n|\t|\tконец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "qwen35": (
        "It|'s| we|'LL| | HTTPServer|'s| Straße\u0301| x\u0323y| |1|2|3|4|5|6|7| |٣|1|２| \n\n| | a|/b|"
        "!!\r\n|\t|\tконец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "ufakzeka": (
        "It|'s| we|'LL| | HTTPServer|'s| Straße|\u0301| x|\u0323y| |1|2|3|4|5|6|7| |٣|1|２| \n\n| | a|/b|"
        "!!\r\n|\t|\tконец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "laguna": (
        "It|'s| we|'LL| | HTTPServer|'s| Straße|\u0301| x|\u0323y| |1|2|3|4|5|6|7| |٣|1|２| |\n\n| | a|/b|"
        "!!\r|\n|\t|\tконец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "bailingmoe": (
        "It|'s| we|'LL| | HTTPServer|'s| Straße|\u0301| x|\u0323y| |1|2|3|4|5|6|7| |٣|1|２| \n\n| | a|/b|"
        "!!\r\n|\t|\tконец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "seed-coder": (
        "It|'s| we|'LL| | HTTPServer|'s| Straße|\u0301| x|\u0323y| |1|2|3|4|5|6|7| |٣|1|２| \n\n| | a|/b|!!|"
        "\r\n|\t|\tконец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "exaone-moe": (
        "It|'s| we|'LL| | HTTPServer|'s| Straße\u0301 x\u0323y| |1|2|3|4|5|6|7| |٣|1|２| \n\n| | a|/b|!!\r|"
        "\n|\t|\tконец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "starcoder": (
        "It|'s| we|'|LL| | HTTPServer|'s| Straße|\u0301| x|\u0323|y| |1|2|3|4|5|6|7| |٣|1|２| \n\n | a|/|b|"
        "!!|\r\n\t|\t|конец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "falcon": (
        "It|'|s| we|'|LL| | HTTPServer|'|s| Straße|\u0301| x|\u0323|y| |123|456|7| ٣1２| \n\n | a|/|b|!!|"
        "\r\n\t|\t|конец字漢かな| \u1c8a|\uff08|ok|\uff09|\u3000| ok|."
    ),
    "default": (
        "It|'|s| we|'|LL| | HTTPServer|'|s| Straße|\u0301| x|\u0323|y| |123|456|7| |٣1２| \n\n | a|/|b|!!|"
        "\r\n\t|\t|конец字漢かな| \u1c8a|\uff08|ok|\uff09|\u3000| ok|."
    ),
    "deepseek-llm": (
        "It|'|s| we|'|LL| | HTTPServer|'|s| Stra|ß|e|\u0301| x|\u0323|y| |1234567| |٣1２| |\n|\n| | a|/|b|"
        "!!|\r|\n|\t|\tконец|字漢かな| |\u1c8a|\uff08|ok|\uff09|\u3000| ok|."
    ),
    "deepseek-coder": (
        "It|'|s| we|'|LL| | HTTPServer|'|s| Straße|\u0301| x|\u0323|y| |1|2|3|4|5|6|7| |٣|1|２| |\n|\n| | a|"
        "/|b|!!|\r|\n|\t|\tконец|字漢かな| |\u1c8a|\uff08|ok|\uff09|\u3000| ok|."
    ),
    "deepseek-v3": (
        "It|'s| we|'LL| | HTTPServer|'s| Straße\u0301| x\u0323y| |123|456|7| |٣1２| \n\n| | a|/b|!!\r\n|\t|"
        "\tконец|字漢かな| |\u1c8a|\uff08|ok|\uff09|\u3000| ok|."
    ),
    "spark2_5": (
        "It|'s| we|'LL| | HTTPServer|'s| Straße\u0301| x\u0323y| |1|2|3|4|5|6|7| |٣|1|２| \n\n | a|/b|!!|\r|"
        "\n|\t|\tконец|字漢かな| |\u1c8a|\uff08|ok|\uff09|\u3000| ok|."
    ),
    "afmoe": (
        "It|'s| we|'LL| | HTTPServer|'s| Straße\u0301| x\u0323y| |1|234|567| |٣1２| \n\n| | a|/b|!!\r\n|\t|"
        "\tконец|字漢かな| |\u1c8a|\uff08|ok|\uff09|\u3000| ok|."
    ),
    "superbpe": (
        "It's we'LL  HTTPServer's Straße\u0301 x\u0323y |1|234|567| |٣1２|"
        " \n\n  a/b!!\r\n\t\tконец字漢かな \u1c8a\uff08ok\uff09\u3000 ok."
    ),
    "tiny_aya": (
        "It's| we'LL| | HTTPServer's| Straße\u0301| x\u0323y| |1|234|567| |٣1２| \n\n| | a|/b|!!\r\n|\t|"
        "\tконец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "youtu": (
        "It's| we'LL| | HTTPServer's| Straße\u0301| x\u0323y| |1|2|3|4|5|6|7| |٣|1|２| \n\n| | a|/b|!!\r\n|"
        "\t|\tконец|字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "tekken": (
        "It|'s| we|'LL| | HTTPServer|'s| Straße|\u0301| x|\u0323y| |1|2|3|4|5|6|7| |٣|1|２| \n\n| | a|/b|"
        "!!\r\n|\t|\tконец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "gpt-4o": (
        "It's| we'LL| | HTTPServer's| Straße|\u0301| x|\u0323y| |123|456|7| |٣1２| \n\n| | a|/b|!!\r\n|\t|"
        "\tконец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "granite-embed-multi-97m": (
        "It's| we'LL| | HTTPServer's| Straße\u0301| x\u0323y| |123|456|7| |٣1２| \n\n| | a|/b|!!\r\n|\t|"
        "\tконец字漢かな| \u1c8a\uff08|ok|\uff09|\u3000| ok|."
    ),
    "poro-chat": (
        "It's| we'LL| | HTTPServer's| Straße\u0301| x\u0323y| 1234567| ٣1２| \n\n | a/b|!!\r\n\t\t|"
        "конец字漢かな| \u1c8a\uff08ok\uff09|\u3000| ok|."
    ),
    "viking": (
        "It's| we'LL| | HTTPServer's| Straße\u0301| x\u0323y| |1|2|3|4|5|6|7| |٣|1|２| \n\n | a/b|"
        "!!\r\n\t\t|конец字漢かな| \u1c8a\uff08ok\uff09|\u3000| ok|."
    ),
    "chameleon": (
        "It|'|s| we|'|LL|  |HTTPServer|'|s| Straße|\u0301| x|\u0323|y| |1|2|3|4|5|6|7| |٣|1|２| |\n|\n|  |a|"
        "/|b|!|!|\r|\n|\t|\t|конец字漢かな| \u1c8a|\uff08|ok|\uff09|\u3000| ok|."
    ),
}


@pytest.mark.parametrize("name", CUT)
def test_a_text_is_cut_as_llama_cpp_cuts_it(name):
    spans = Passes(PRETOKENIZERS[name].passes).spans(PROBE)
    assert "|".join(PROBE[start:end] for start, end in spans) == CUT[name]


def test_every_way_to_cut_is_in_the_table():
    in_words = [one for one in PRETOKENIZERS.values() if not one.is_of_characters]
    assert {one.passes for one in in_words} == {PRETOKENIZERS[name].passes for name in CUT}


def test_names_that_llama_cpp_gave_to_one_pretokenizer():
    assert PRETOKENIZERS["falcon3"] == PRETOKENIZERS["llama-bpe"]
    assert PRETOKENIZERS["phi-2"] == PRETOKENIZERS["olmo"] == PRETOKENIZERS["gpt-2"]
    assert PRETOKENIZERS["deepseek-r1-qwen"] == PRETOKENIZERS["stablelm2"] == PRETOKENIZERS["qwen2"]
    assert PRETOKENIZERS["smaug-bpe"].passes == PRETOKENIZERS["llama-bpe"].passes
    whole = {name for name, one in PRETOKENIZERS.items() if one.takes_whole}
    assert {"llama-bpe", "tekken", "youtu", "glm4"} < whole
    assert whole.isdisjoint({"gpt-2", "qwen2", "dbrx", "gpt-4o"})
    assert [
        name for name, one in PRETOKENIZERS.items() if one.adds_first and one.passes == PRETOKENIZERS["tekken"].passes
    ]


@pytest.mark.parametrize(("name", "text", "pieces"), [
    ("dbrx", "x'\u017fa'Sa", ["x", "'\u017fa", "'S", "a"]),  # a long s is no s, as it is to (?i:s)
    ("tekken", "ÉTÉ été ABc", ["ÉTÉ", " été", " ABc"]),
    ("tekken", "ABcD", ["ABc", "D"]),
    ("tekken", "ÉtÉ", ["ÉtÉ"]),  # beyond ASCII no letter is a capital
    ("bailingmoe", "\n\n\n", ["\n\n\n"]),
    ("bailingmoe", "!\n\n\n!", ["!\n\n\n", "!"]),
    ("chameleon", "IMGIMGABZa <b", ["IMGIMGABZ", "a", " ", "<", "b"]),
    ("superbpe", "1234 and 123", ["1", "234", " and ", "123"]),
    ("afmoe", "x12345y", ["x", "12", "345", "y"]),
    ("jais-2", "a" + " " * 12 + "b", ["a", " " * 8, "  ", " ", " b"]),
    ("deepseek-llm", "a   ", ["a", "   "]),
    ("deepseek-llm", "\u3000\u3001", ["\u3000", "\u3001"]),  # its range of Han begins below, but that is white space
])  # fmt: skip
def test_what_is_particular_to_one(name, text, pieces):
    assert [text[start:end] for start, end in Passes(PRETOKENIZERS[name].passes).spans(text)] == pieces


def test_of_a_character_that_unicode_had_not_yet_no_class_is_known():
    letter = "\u1c8a"  # of Unicode 16
    spans = Passes(PRETOKENIZERS["gpt-2"].passes).spans(f"a{letter}b")
    assert spans == [(0, 1), (1, 2), (2, 3)]


def test_the_characters_of_each_class_are_as_many_as_in_llama_cpp():
    """A later Unicode in `regex` would change this: then _NEWER_RANGES lacks what is new."""
    everything = "".join(chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000)
    seen = newer_characters().sub("\u0378", everything)
    counts = {name: len(regex.findall(rf"\p{{{name}}}", seen)) for name in "LNMPS"}
    assert counts == {"L": 136_726, "N": 1_831, "M": 2_450, "P": 842, "S": 7_775}
    assert len(regex.findall(r"\s", seen)) == 25


def test_the_pretokenizers_that_options_can_name_cut_alike():
    chance = random.Random("alike")
    letters = [*"ab É1２'sl,.!_-\n\t\r 字\u0301\u3000", " ", " "]
    texts = ["".join(chance.choices(letters, k=30)) for _ in range(300)]
    named = {one.option: one for one in PRETOKENIZERS.values() if one.option is not None}
    assert named
    for option, one in named.items():
        for text in texts:
            assert Passes(one.passes).spans(text) == NAMED[option].spans(text)
