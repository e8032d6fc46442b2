"""The command `info`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click

from bpe_viz.cli.inputs import STDIN, given_counting, locate_tokenizer
from bpe_viz.cli.options import counting_of, counting_options
from bpe_viz.cli.terminal import ProgressLine, print_result

if TYPE_CHECKING:
    from bpe_viz.engine.corpus import Corpus
    from bpe_viz.engine.types import CountingOptions
    from bpe_viz.formats import Format
    from bpe_viz.names import Located

_MOST_FREQUENT = 10

Info = dict[str, Any]


@click.command("info")
@click.argument("source")
@counting_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(source: str, as_json: bool, **values: Any) -> None:
    """Tell what SOURCE is: a text file or folder, a word-count table, or a tokenizer.

    A tokenizer is a file, tiktoken:NAME or hf:ORG/NAME.

    Example: bpe-viz info novel.txt --pretokenizer cl100k
    """
    from bpe_viz.formats import detect_format
    from bpe_viz.names import is_name

    is_absent = source != STDIN and not os.path.lexists(source)  # said as for every other command
    located = locate_tokenizer(source) if is_name(source) or os.path.isfile(source) or is_absent else None
    found = None if located is None else detect_format(located.path)
    if located is None or (found is None and not is_name(source)):
        info = _corpus_info(source, counting_of(values))
    else:
        info = _tokenizer_info(located, found, values)
    print_result(json.dumps(info) if as_json else "\n".join(_lines(info)))


def _tokenizer_info(located: Located, found: Format | None, values: dict[str, Any]) -> Info:
    from bpe_viz.engine.pipeline import PlainPipeline

    tokenizer = located.load(given_counting(values["pretokenizer"], values["pattern"]))
    counting = tokenizer.counting
    ids = [token.id for token in tokenizer.vocabulary()]
    is_plain = tokenizer.is_told_by_options or isinstance(tokenizer.pipeline, PlainPipeline)
    return {
        "kind": "tokenizer",
        "name": located.written,
        "title": located.title,
        "format": None if found is None else found.name,
        "model": tokenizer.kind,
        "vocab_size": tokenizer.vocab_size,
        "largest_id": max(ids, default=None),
        "base": tokenizer.base.base,
        "base_symbols": len(tokenizer.base),
        "merges": tokenizer.n_merges,
        "pretokenizer": _pretokenizer(counting) if is_plain else tokenizer.pipeline.title,
        "normalize": list(counting.normalize),
        "end_of_word": tokenizer.base.end_of_word,
        "marker": tokenizer.base.marker if tokenizer.base.end_of_word != "none" else None,
        "unknown": tokenizer.unknown,
        "special_tokens": {text: tokenizer.special_ids[text] for text in counting.special_tokens},
        "notes": list(tokenizer.notes),
    }


def _corpus_info(source: str, counting: CountingOptions) -> Info:
    from bpe_viz.cli.training import kernels_to_count
    from bpe_viz.engine.corpus import count_paths

    kernel_set = kernels_to_count([source], counting)
    with ProgressLine() as progress:
        corpus = count_paths([source], counting, progress.report, kernel_set=kernel_set)
    return {
        "kind": "table" if corpus.is_table else "text",
        "name": source,
        "bytes": corpus.n_bytes,
        "characters": corpus.n_characters,
        "pretokenizer": None if corpus.is_table else _pretokenizer(counting),
        "normalize": list(counting.normalize),
        "pretokens": corpus.n_pretokens,
        "distinct_pretokens": len(corpus.pretokens),
        "most_frequent": _most_frequent(corpus),
        "notes": list(corpus.notes),
    }


def _pretokenizer(counting: CountingOptions) -> str:
    return counting.pretokenizer if counting.pattern is None else counting.pattern


def _most_frequent(corpus: Corpus) -> list[list[str | int]]:
    import numpy as np

    counts = corpus.pretokens.counts
    rows = np.argsort(-counts, kind="stable")[:_MOST_FREQUENT].tolist()
    return [[corpus.pretokens.content(row).decode(), int(counts[row])] for row in rows]


def _lines(info: Info) -> list[str]:
    """Lay the values out for people: numbers with separators, what is empty left out."""
    from bpe_viz.engine.visible import visible

    lines = []
    for name, value in info.items():
        # A pretokenizer may be called none; that of a table is None.
        if value in (None, [], {}) or (value == "none" and name != "pretokenizer"):
            continue
        title = name.replace("_", " ")
        if name == "notes":
            lines += [f"note: {note}" for note in value]
        elif name == "most_frequent":
            shown = [f"{visible(text.encode(), limit=20)} {count:,}" for text, count in value]
            lines.append(f"{title}: {', '.join(shown)}")
        elif isinstance(value, dict):
            lines.append(f"{title}: {', '.join(f'{visible(text.encode())} {n}' for text, n in value.items())}")
        elif isinstance(value, list):
            lines.append(f"{title}: {', '.join(value)}")
        else:
            lines.append(f"{title}: {value:,}" if isinstance(value, int) else f"{title}: {value}")
    return lines
