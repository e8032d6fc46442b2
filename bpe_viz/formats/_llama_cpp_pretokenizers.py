r"""The pre-tokenizers that llama.cpp knows by name: how each cuts, and what else the name stands for.

They are written as llama.cpp has them, which is not always what the model was trained with: "tekken" and "gpt-4o" know
capitals in ASCII alone, where Mistral and OpenAI know those of all scripts. (?i:...) is written out, as in Python it
also finds a long s.
Source: ggml-org/llama.cpp, src/llama-vocab.cpp and src/unicode.cpp, as vendored by llama-cpp-python 0.3.36.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bpe_viz.engine.llama_cpp_cutting import Pass, Threes

_SHORT = r"'(?:[sdmtSDMT]|[lL][lL]|[vV][eE]|[rR][eE])"
_SIGNS = r" ?[^\s\p{L}\p{N}]+"
_BLANKS = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_GPT2 = rf"'s|'t|'re|'ve|'m|'ll|'d| ?\p{{L}}+| ?\p{{N}}+|{_SIGNS}|\s+(?!\S)|\s+"


def _gpt4(number: str, letters: str = r"\p{L}", short: str = f"{_SHORT}|", blanks: str = _BLANKS) -> str:
    """Return a pattern of the kind of cl100k; without marks among its letters, they are signs."""
    signs = _SIGNS if letters == r"\p{L}" else r" ?[^\s\p{L}\p{M}\p{N}]+"
    return rf"{short}[^\r\n\p{{L}}\p{{N}}]?{letters}+|{number}|{signs}[\r\n]*|{blanks}"


def _gpt4o(number: str, lower: str, upper: str, short: str) -> str:
    """Return a pattern of the kind of o200k. lower, upper: match a letter that is not the other's"""
    before = r"[^\r\n\p{L}\p{N}]?"
    return rf"{before}{upper}*{lower}+{short}|{before}{upper}+{lower}*{short}|{number}|{_SIGNS}[\r\n/]*|{_BLANKS}"


_NOT_SMALL, _NOT_CAPITAL = r"(?:(?![a-z])\p{L})", r"(?:(?![A-Z])\p{L})"
_NOT_SMALL_OR_MARK, _NOT_CAPITAL_OR_MARK = r"(?:(?![a-z])[\p{L}\p{M}])", r"(?:(?![A-Z])[\p{L}\p{M}])"
_LLAMA3 = _gpt4(r"\p{N}{1,3}")
_QWEN2 = _gpt4(r"\p{N}")
_ASCII_SIGNS = r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"
_DEEPSEEK_WORDS = rf"{_ASCII_SIGNS}[A-Za-z]+|[^\r\n\p{{L}}\p{{P}}\p{{S}}]?[\p{{L}}\p{{M}}]+| ?[\p{{P}}\p{{S}}]+"
_DEEPSEEK3 = rf"{_DEEPSEEK_WORDS}[\r\n]*|{_BLANKS}"
# The letters that have two cases, as DeepSeek's own file lists them.
_TWO_CASES = (
    r"A-Za-z\xb5\xc0-\xd6\xd8-\xf6\xf8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376\u0377"
    r"\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556"
    r"\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a"
    r"\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4"
    r"\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc"
    r"\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f"
    r"\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b"
    r"\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a"
    r"\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2"
    r"\U000118a0-\U000118df\U0001e900-\U0001e943"
)
_DEEPSEEK_HAN = r"[\u0800-\u9fa5\uac00-\ud7ff]+"
_HAN_KANA = r"[\u4e00-\u9fa5\u3040-\u30ff]+"
_SOUTH_EAST_ASIA = (
    r"[\u4e00-\u9fff\u3400-\u4dbf\u8c48-\ufaff\u3040-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e40-\u0eff\u1780-\u17ff"
    r"\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+"
)
_BLOOM = r" ?[^(\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"
_JAIS2_BLANKS = (
    r"\s*[\r\n]+|" + "".join(rf"\s{{{n}}}(?!\S)|" for n in (512, 256, 128, 64, 32, 16, 8, 4)) + r"\s{1,2}(?!\S)|\s{1}"
)


@dataclass(frozen=True, slots=True)
class Pretokenizer:
    """What the name of a pre-tokenizer stands for.

    passes: the patterns, each of which cuts what the one before left whole
    option: the named pretokenizer of bpe_viz that cuts alike, its newer letters apart; None: there is none
    takes_whole: a pre-token that is a token is taken whole, whatever the merges give
    adds_first: the first token stands before a text, unless the file says otherwise
    has_first: there is a first token even if the file names none
    is_of_characters: merges join characters, not letters for bytes, in whole lines; spaces are written as pieces write
        them, and a character that is no token falls apart into its bytes
    takes_line_ends: line ends in a row are taken whole if they are a token, and the first token stands before a text,
        even if the file says otherwise
    """

    passes: tuple[Pass, ...]
    option: str | None = None
    takes_whole: bool = False
    adds_first: bool = False
    has_first: bool = True
    is_of_characters: bool = False
    takes_line_ends: bool = False


def _table() -> Iterator[tuple[str, Pretokenizer]]:
    """Yield the names and what each stands for."""

    def named(names: str, *passes: Pass, **said: bool | str) -> Iterator[tuple[str, Pretokenizer]]:
        for name in names.split():
            yield name, Pretokenizer(passes, **said)  # type: ignore[arg-type]  # its own fields

    yield from named(
        "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert jina-v1-en jina-v2-code "
        "roberta-bpe exaone4 mpt olmo jais trillion granite-docling",
        _GPT2,
        option="gpt2",
    )
    yield from named(
        "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
        _LLAMA3,
        takes_whole=True,
        adds_first=True,
    )
    yield from named("dbrx smaug-bpe", _LLAMA3)
    yield from named("chatglm-bpe", _LLAMA3, has_first=False)
    yield from named("glm4 glm5", _LLAMA3, takes_whole=True, has_first=False)
    yield from named("minicpm5", r"\p{N}{1,3}", _gpt4(r"\p{N}+"), takes_whole=True)
    yield from named("jais-2", _gpt4(r"\p{N}{1,3}", blanks=_JAIS2_BLANKS))
    yield from named("qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2", _QWEN2)
    yield from named("qwen35", _gpt4(r"\p{N}", letters=r"[\p{L}\p{M}]"))
    yield from named("ufakzeka", _gpt4(r"\p{N}", short=""))
    yield from named("laguna", r"[^\n]+|\n+", _QWEN2)
    yield from named(
        "bailingmoe bailingmoe2 llada-moe",
        _gpt4(r"\p{N}", blanks=r"\s*[\r\n]|\s+(?!\S)|\s+"),
    )
    yield from named("seed-coder", rf"{_SHORT}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+|{_BLANKS}")
    yield from named(
        "exaone-moe",
        rf"{_SHORT}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}|{_SIGNS}[\r\n/]?"
        r"|\s*[\r\n]|\s+(?!\S)|\s+",
    )
    yield from named("starcoder refact command-r smollm codeshell exaone minerva-7b mellum2", r"\p{N}", _GPT2)
    yield from named("falcon", r"[\p{P}$+<=>^~|`]+", _GPT2, "[0-9][0-9][0-9]")
    yield from named("default", r"[\p{P}$+<=>^~|]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]")
    yield from named(
        "deepseek-llm",
        r"[\r\n]",
        rf"\s?[{_TWO_CASES}]+",
        # U+3000, which the list names too, is white space, and so never found.
        r"\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3001\u3002]+",
        r"\s++(?:\Z|(*SKIP)(*FAIL))",
        _DEEPSEEK_HAN,
        r"\p{N}+",
    )
    yield from named("deepseek-coder", r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _DEEPSEEK_HAN, r"\p{N}")
    yield from named("deepseek-v3 hunyuan-dense joyai-llm hy_v4", r"\p{N}{1,3}", _HAN_KANA, _DEEPSEEK3)
    yield from named("spark2_5", r"\p{N}{1,3}", _HAN_KANA, rf"{_DEEPSEEK_WORDS}|[\r\n]|\s+(?!\S)|\s+", r"\p{N}")
    yield from named("afmoe", Threes(r"\p{N}+", behind=True), _SOUTH_EAST_ASIA, _DEEPSEEK3)
    yield from named("superbpe", r"\p{N}+", Threes("[0-9]+", behind=False))
    any_case = r"[\p{L}\p{M}]"
    yield from named(
        "tiny_aya cohere2moe",
        Threes(r"\p{N}+", behind=True),
        _gpt4o(r"\p{N}{1,3}", any_case, any_case, f"(?:{_SHORT})?"),
    )
    yield from named(
        "youtu",
        r"[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f"
        rf"\ufe30-\ufe4f]+|[\u3105-\u312f]+|{_HAN_KANA}",
        _gpt4o(r"\p{N}", any_case, any_case, f"(?:{_SHORT})?"),
        takes_whole=True,
    )
    yield from named("tekken", _gpt4o(r"\p{N}", _NOT_CAPITAL, _NOT_SMALL, ""), takes_whole=True, adds_first=True)
    yield from named(
        "gpt-4o llama4 kanana2 talkie minimax-m2",
        _gpt4o(r"\p{N}{1,3}", _NOT_CAPITAL, _NOT_SMALL, f"(?:{_SHORT})?"),
    )
    yield from named(
        "granite-embed-multi-97m",
        _gpt4o(r"\p{N}{1,3}", _NOT_CAPITAL_OR_MARK, _NOT_SMALL_OR_MARK, f"(?:{_SHORT})?"),
        takes_whole=True,
    )
    yield from named("poro-chat bloom gpt3-finnish", _BLOOM)
    yield from named("viking", _BLOOM, r"\p{N}")
    yield from named(
        "chameleon",
        "<sentinel:[0-9]+>",
        "IMGIMG[A-I]{1,4}Z",
        r"[\t\n]|    |  ",
        r"\p{N}",
        r"[\p{P}!-/:-@\[-`{-~]",
        _GPT2,
        adds_first=True,
    )
    yield from named("gemma4 granite-embed-multi-311m", is_of_characters=True, takes_line_ends=True)
    yield from named("sarvam-moe", is_of_characters=True)


PRETOKENIZERS: dict[str, Pretokenizer] = dict(_table())
"""By the names that files write in tokenizer.ggml.pre."""
