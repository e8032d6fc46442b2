"""Exit status, one line of error, what is imported, and how fast it answers."""

from __future__ import annotations

import binascii
import json
import os
import signal
import subprocess
import sys
import types

import pytest

from bpe_viz.cli import COMMANDS
from bpe_viz.engine.pretokenize import PRETOKENIZERS
from bpe_viz.engine.tie_rules import TIE_RULES
from bpe_viz.formats import formats


def started(*arguments, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **options}
    return subprocess.Popen([sys.executable, "-m", "bpe_viz", *map(str, arguments)], **options)


def ran(*arguments, **options):
    with started(*arguments, **options) as process:
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example(run, command):
    status, out, _ = run(command, "--help")
    assert status == 0
    assert f"Example: bpe-viz {command}" in " ".join(out.split())


def _after(word: str, help_text: str, end: str) -> list[str]:
    """Return the names that a help lists after a word, up to another."""
    listed = " ".join(help_text.split()).partition(word)[2].partition(end)[0]
    return [name.strip(" .").removesuffix(" (the default)") for name in listed.split(",")]


@pytest.mark.parametrize("command", ["train", "snapshot"])
def test_help_lists_the_tie_rules_and_pretokenizers(run, command):
    out = run(command, "--help").out
    assert _after("Who wins a tie: ", out, "--weights") == list(TIE_RULES)
    assert _after("--pretokenizer NAME ", out, "--pattern") == list(PRETOKENIZERS)


@pytest.mark.parametrize("command", ["train", "convert"])
def test_help_lists_the_formats_that_can_be_saved(run, command):
    out = run(command, "--help").out
    assert sorted(_after("Of OUT: ", out, ";")) == [one.name for one in formats() if one.contents is not None]


def test_help_says_that_tokenizers_are_opened(run):
    assert "a tokenizer, which is a file, tiktoken:NAME or hf:ORG/NAME" in " ".join(run("--help").out.split())


def test_help_lists_the_commands_and_version_is_told(run):
    out = run("--help").out
    assert all(f"  {command} " in out for command in COMMANDS)
    assert run("--version").out.startswith("bpe-viz 0.")


# What is wrong: the command line, and what the one line must say.
MISTAKES = {
    "no output": ("train TEXT", "--log"),
    "no corpus": ("train --log LOG", "CORPUS"),
    "absent file": ("train TMP/absent.txt --log LOG", "absent.txt"),
    "name too long": ("train " + "x" * 5000 + " --log LOG", "too long"),
    "folder without text": ("train TMP/folder --log LOG", "folder"),
    "empty file": ("train TMP/empty.txt --log LOG", "empty"),
    "no text": ("train TMP/binary.txt --log LOG", "not text"),
    "bad table": ("train TMP/table.tsv --log LOG", "line 1"),
    "table and text": ("train TMP/table.tsv TEXT --log LOG", "word table"),
    "target below the base": ("train TEXT --vocab-size 10 --log LOG", "256 or more"),
    "two targets": ("train TEXT --vocab-size 300 --merges 3 --log LOG", "Give one"),
    "negative merges": ("train TEXT --merges -1 --log LOG", "0 or more"),
    "no number": ("train TEXT --merges many --log LOG", "many"),
    "unknown pretokenizer": ("train TEXT --pretokenizer gpt3 --log LOG", "gpt2"),
    "unknown rule": ("train TEXT --rule texbook --log LOG", "textbook"),
    "unknown base": ("train TEXT --base words --log LOG", "characters"),
    "unknown format": ("train TEXT -o TMP/t.json --format x", "tokenizer.json"),
    "unknown suffix": ("train TEXT -o TMP/t.xyz", "t.xyz"),
    "unknown option": ("train TEXT --merge 3 --log LOG", "--merge"),
    "bad pattern": ("train TEXT --pattern ( --log LOG", "does not compile"),
    "pattern and pretokenizer": ("train TEXT --pattern . --pretokenizer gpt2 --log LOG", "Give one"),
    "pattern without match": ("train TEXT --pattern z --log LOG", "matches nothing"),
    "unwritable output": ("train TEXT -o TMP/absent/t.json", "cannot be written"),
    "unwritable log": ("train TEXT --log TMP/folder", "cannot be written"),
    "separate marker": ("train TEXT --end-of-word separate -o TMP/t.json", "glued"),
    "absent tokenizer": ("encode TMP/absent.json x", "absent.json"),
    "text as tokenizer": ("encode TEXT x", "no tokenizer file"),
    "folder as tokenizer": ("encode TMP/folder x", "is a folder, and no tokenizer file. Name a tokenizer file in it."),
    "folder of a model": ("decode TMP/model 1", "Name a file in it, such as "),
    "encoding without its publisher": ("encode cl100k_base x", "tiktoken:cl100k_base"),
    "model without its publisher": ("info org/name", "hf:org/name"),
    "window of a name without its publisher": ("gpt2", "tiktoken:gpt2"),
    "folder as text": ("encode TMP/whole.json --file TMP/folder", "is a folder"),
    "damaged tokenizer": ("encode TMP/damaged.json x", "$.vocab"),
    "no text to encode": ("encode TMP/whole.json", "Neither TEXT nor --file"),
    "two texts to encode": ("encode TMP/whole.json x --file TEXT", "Both TEXT and --file"),
    "absent text to encode": ("encode TMP/whole.json --file TMP/absent.txt", "absent.txt"),
    "position beyond the end": ("encode TMP/whole.json x --position 9", "0 to 0"),
    "no id": ("decode TMP/whole.json x", "no token id"),
    "absent source": ("info TMP/absent", "absent"),
    "a command misspelt": ("trian TEXT", "train"),
    "a window of an absent file": ("TMP/absent.txt", "absent.txt"),
    "snapshot of an unknown kind": ("snapshot TEXT -o TMP/x.bmp", ".png"),
    "snapshot of a wrong size": ("snapshot TEXT -o TMP/x.png --size big", "1280x800"),
    "snapshot of a wrong theme": ("snapshot TEXT -o TMP/x.png --theme blue", "print"),
    "snapshot of a tokenizer that is to be trained": ("snapshot TMP/whole.json -o TMP/x.png --merges 5", "--merges"),
    "snapshot of ranks of no known encoding": ("snapshot TMP/r.tiktoken -o TMP/x.png", "Give --pretokenizer"),
    "snapshot of ranks with an option of training": (
        "snapshot TMP/r.tiktoken -o TMP/x.png --threads 1",
        "r.tiktoken is a tokenizer, and nothing is trained",
    ),
    "snapshot of a name without its publisher": ("snapshot gpt2 -o TMP/x.png", "tiktoken:gpt2"),
    "replay on an absent text": ("snapshot TMP/whole.json --replay TMP/absent.txt -o TMP/x.png", "absent.txt"),
    "option of none": ("--nonsense", "--nonsense"),
}


@pytest.fixture
def folder(tmp_path):
    """A folder with what can be wrong."""
    (tmp_path / "c.txt").write_text("low lower")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "binary.txt").write_bytes(bytes(range(256)) * 9)
    (tmp_path / "folder").mkdir()
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "tokenizer.json").touch()
    (tmp_path / "table.tsv").write_text("low\n")
    lines = (binascii.b2a_base64(bytes([byte]), newline=False) + b" %d\n" % byte for byte in range(256))
    (tmp_path / "r.tiktoken").write_bytes(b"".join(lines))
    model = {"type": "BPE", "vocab": {"a": 0}, "merges": []}
    (tmp_path / "whole.json").write_text(json.dumps({"model": model}))
    (tmp_path / "damaged.json").write_text(json.dumps({"model": {**model, "vocab": {"a": "b"}}}))
    return tmp_path


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line_that_helps(run, folder, name):
    written, said = MISTAKES[name]
    names = {"TEXT": folder / "c.txt", "LOG": folder / "log", "TMP": folder}
    for short, path in names.items():
        written = written.replace(short, str(path))
    before = set(folder.rglob("*"))
    status, out, err = run(*written.split())
    assert status == 2
    assert out == ""
    lines = [line for line in err.splitlines() if line.startswith("bpe-viz: ")]
    assert len(lines) == 1
    assert err.endswith(f"{lines[0]}\n")
    assert "Traceback" not in err
    assert said in lines[0]
    assert set(folder.rglob("*")) == before


def test_ctrl_c_is_one_line_and_leaves_nothing_half_written(tmp_path):
    out = tmp_path / "t.json"
    out.write_text("before")
    with started("train", "-", "-o", out, stdin=subprocess.PIPE) as process:
        try:
            # A pipe holds far less than this: when all is written, most of it was read, and more is waited for.
            process.stdin.write(b"some words and some more words. " * 100_000)
            process.stdin.flush()
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err.decode().splitlines() == ["bpe-viz: stopped."]
    assert out.read_text() == "before"
    assert {path.name for path in tmp_path.iterdir()} == {"t.json"}


def test_a_closed_pipe_is_quiet(worked, tmp_path):
    (tmp_path / "long.txt").write_text("lowest " * 100_000)
    with started("encode", worked, "--file", tmp_path / "long.txt", "--output", "tokens") as process:
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
        process.wait(timeout=60)
    assert b"Error" not in err
    assert b"Traceback" not in err


def test_a_full_disk_is_one_line(worked):
    with open("/dev/full", "wb") as full, started("encode", worked, "lowest", stdout=full) as process:
        err = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 2
    assert err.splitlines() == [
        "bpe-viz: Standard output cannot be written: No space left on device. Send it elsewhere."
    ]


def test_a_log_may_go_to_standard_output(table):
    status, out, _ = ran("train", table, "--base", "characters", "--merges", 7, "--log", "/dev/stdout")
    assert status == 0
    assert len(out.splitlines()) == 7


def test_any_text_can_be_printed_anywhere(worked):
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    status, out, _ = ran("explain", worked, "low字", env=environment)
    assert status == 0
    assert b"\\u5b57" in out


SMALL = {
    "train": ("train", "TABLE", "--log", "TMP/log.jsonl", "-o", "TMP/t.json"),
    "encode": ("encode", "WORKED", "lowest"),
    "decode": ("decode", "WORKED", "13"),
    "explain": ("explain", "WORKED", "lowest"),
    "info": ("info", "TABLE"),
}


@pytest.mark.parametrize("command", SMALL)
def test_small_input_imports_neither_numba_nor_qt(command, worked, table, tmp_path):
    names = {"WORKED": str(worked), "TABLE": str(table)}
    arguments = [names.get(one, one.replace("TMP", str(tmp_path))) for one in SMALL[command]]
    code = (
        "import sys\nfrom bpe_viz.cli import main\n"
        f"assert main({arguments!r}) == 0\n"
        "heavy = {'numba', 'PySide6', 'pyqtgraph', 'shiboken6', 'tokenizers.trainers', 'pyarrow'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    if command == "train":
        code = code.replace("'tokenizers.trainers', ", "")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False, env=environment)
    assert done.returncode == 0, done.stderr.decode()
    assert not (tmp_path / "cache").exists()


def test_the_window_gets_the_sources(run, table, monkeypatch):
    asked = []
    application = types.ModuleType("bpe_viz.gui.app")
    application.run = lambda sources: asked.append(tuple(sources)) or 0
    monkeypatch.setitem(sys.modules, "bpe_viz.gui.app", application)
    assert run(table, "hf:org/name").status == 0
    assert run().status == 0
    assert asked == [(str(table), "hf:org/name"), ()]


def test_a_snapshot_is_asked_for_with_its_options(run, table, tmp_path, monkeypatch):
    asked = []
    module = types.ModuleType("bpe_viz.gui.snapshot")
    module.EXAMPLE = "example"
    module.snapshot = lambda source, out, **options: asked.append((source, out, options)) or []
    monkeypatch.setitem(sys.modules, "bpe_viz.gui.snapshot", module)
    out = tmp_path / "x.svg"
    arguments = (
        "--panel",
        "histogram",
        "--position",
        3,
        "--instead",
        "[n][e]",
        "--text",
        "low",
        "--theme",
        "print",
        "--size",
        "640x480",
    )
    assert run("snapshot", table, "-o", out, *arguments, "--base", "characters").status == 0
    (source, path, options) = asked[0]
    assert (source, path) == (str(table), out)
    assert options["options"].training.base == "characters"
    assert {key: value for key, value in options.items() if key != "options"} == {
        "given": None, "only_trains": ["--base"],
        "position": 3, "instead": "[n][e]", "replay": None, "panel": "histogram", "text": "low", "theme": "print",
        "size": (640, 480),
        "scale": 1.0,
    }  # fmt: skip


# --- what must be refused before anything is read or written ---

SAME = {
    "log over the corpus": "train TMP/c.txt --log TMP/c.txt",
    "tokenizer over the corpus": "train TMP/c.txt -o TMP/c.json TMP/c.json",
    "log over the tokenizer": "train TMP/c.txt -o TMP/new.json --log TMP/new.json",
    "another spelling": "train TMP/c.txt -o TMP/new.json --log TMP/folder/../new.json",
    "a hard link": "train TMP/c.txt --log TMP/hard",
    "a link": "train TMP/c.txt --log TMP/soft",
    "a file of the folder": "train TMP --log TMP/folder/inner.txt",
    "a figure over its source": "snapshot TMP/c.svg -o TMP/c.svg",
}


@pytest.mark.parametrize("name", SAME)
def test_no_output_is_written_over_an_input_or_another_output(run, folder, name):
    for copy in ("c.json", "c.svg", "folder/inner.txt"):
        (folder / copy).write_text("low lower")
    os.link(folder / "c.txt", folder / "hard")
    (folder / "soft").symlink_to(folder / "c.txt")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    status, out, err = run(*SAME[name].replace("TMP", str(folder)).split())
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "would write over" in err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_outputs_that_keep_nothing_may_be_one(run, folder):
    assert (
        run("train", folder / "c.txt", "-o", "/dev/null", "--format", "tokenizer.json", "--log", "/dev/null").status
        == 0
    )


def test_a_dash_as_log_is_standard_output(run, table):
    status, out, _ = run("train", "-", "--merges", 2, "--log", "-", stdin=b"low low lower")
    assert status == 0
    assert [json.loads(line)["rank"] for line in out.splitlines()] == [0, 1]


@pytest.mark.parametrize(
    ("option", "most"),
    [
        ("--merges", 2**31 - 1),
        ("--vocab-size", 2**31 - 1),
        ("--max-token-length", 2**31 - 1),
        ("--min-count", 2**63 - 1),
    ],
)
def test_a_number_too_large_for_training_is_one_line(run, folder, option, most):
    arguments = ("train", folder / "c.txt", "--log", folder / "log", option)
    assert run(*arguments, most).status == 0
    for number in (most + 1, 10**19, 10**400):
        status, _, err = run(*arguments, number)
        assert (status, len(err.splitlines())) == (2, 1)
        assert f"Give {most:,} or less." in err


@pytest.mark.parametrize(
    "written",
    [
        "train TEXT --log LOG --marker BAD --end-of-word glued",
        "train TEXT --log LOG --special BAD",
        "train TEXT --log LOG --unknown BAD",
        "train TEXT --log LOG --pattern BAD",
        "train TEXT --log LOG --pretokenizer BAD",
        "train TEXT --log LOG --rule BAD",
        "encode WHOLE BAD",
        "explain WHOLE BAD",
        "info TEXT --special BAD",
        "snapshot TEXT -o FIGURE.png --text BAD",
    ],
)
def test_bytes_that_are_no_text_are_one_line(run, folder, written):
    names = {"TEXT": folder / "c.txt", "LOG": folder / "log", "WHOLE": folder / "whole.json", "BAD": "a\udcffb"}
    status, out, err = run(*(names.get(one, one) for one in written.split()))
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert r"a\udcffb" in err


# --- standard streams that are closed or full ---

STREAMS = {
    "no output": ("encode WORKED lowest >&-", 2, "Standard output cannot be written"),
    "no output for help": ("train --help >&-", 2, "Standard output cannot be written"),
    "no output for a log": ("train TABLE --log - >&-", 2, "Standard output cannot be written"),
    "no input": ("train - --log LOG <&-", 2, "standard input cannot be read"),
    "no input for ids": ("decode WORKED - <&-", 2, "standard input cannot be read"),
    "no input for text": ("encode WORKED - <&-", 2, "standard input cannot be read"),
    "no errors": ("encode WORKED '' --position 99 2>&-", 2, ""),
    "no notes": ("train TABLE --log LOG 2>&-", 0, ""),
    "nothing at all": ("encode WORKED lowest <&- >&- 2>&-", 2, ""),
    "full output": ("encode WORKED lowest >/dev/full", 2, "Standard output cannot be written: No space left"),
    "full output for help": ("--help >/dev/full", 2, "Standard output cannot be written: No space left"),
    "full output for the version": ("--version >/dev/full", 2, "Standard output cannot be written: No space left"),
    "full errors": ("encode WORKED '' --position 99 2>/dev/full", 2, ""),
    "full notes": ("train TABLE --log LOG 2>/dev/full", 0, ""),
    "a full log": ("train TABLE --log /dev/full", 2, "/dev/full cannot be written"),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_is_closed_or_full_is_one_line(worked, table, tmp_path, name):
    written, status, said = STREAMS[name]
    for short, path in {"WORKED": worked, "TABLE": table, "LOG": tmp_path / "log"}.items():
        written = written.replace(short, str(path))
    command = ["sh", "-c", f"{sys.executable} -m bpe_viz {written}"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == status
    assert b"Traceback" not in done.stderr
    lines = [line for line in done.stderr.decode().splitlines() if line.startswith("bpe-viz: ")]
    assert len(lines) == (1 if said else 0)
    assert said in "".join(lines)


@pytest.mark.parametrize("module", ["click", "bpe_viz.cli.train", "bpe_viz.engine.corpus"])
def test_ctrl_c_while_something_is_imported(tmp_path, module, table):
    code = (
        "import builtins, sys\nimport bpe_viz.__main__ as program\n"
        "real = builtins.__import__\n"
        "import importlib\nimport_module = importlib.import_module\n"
        "def interrupted(name, *rest, **more):\n"
        f"    if name == {module!r}: raise KeyboardInterrupt\n"
        "    return real(name, *rest, **more)\n"
        "builtins.__import__ = interrupted\n"
        "def other(name, *rest):\n"
        f"    if name == {module!r}: raise KeyboardInterrupt\n"
        "    return import_module(name, *rest)\n"
        "importlib.import_module = other\n"
        f"sys.argv = ['bpe-viz', 'train', {str(table)!r}, '--log', {str(tmp_path / 'log')!r}]\n"
        "program.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert done.returncode == 130
    assert done.stderr.decode().splitlines() == ["bpe-viz: stopped."]


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ("639x400", "640x400"),
        ("640x399", "640x400"),
        ("16385x400", "16384"),
        ("0x0", "640x400"),
        ("9" * 9 + "x500", "16384"),
    ],
)
def test_a_size_that_cannot_be_drawn_says_what_can(run, folder, size, said):
    status, _, err = run("snapshot", folder / "c.txt", "-o", folder / "x.png", "--size", size)
    assert (status, len(err.splitlines())) == (2, 1)
    assert said in err
