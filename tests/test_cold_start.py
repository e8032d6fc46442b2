"""The first start, a damaged cache and folders that cannot be written: in processes of their own."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bpe_viz.engine import compiled
from bpe_viz.engine.kernel_cache import read_kernels

ROOT = Path(__file__).resolve().parents[1]

# Kernels are compiled for large corpora only, which take long to train on.
ALL_IS_LARGE = (
    "from bpe_viz.engine import compiled, corpus\n"
    "compiled.SMALL = compiled.LARGE = corpus.WORTH_SCANNING = corpus.WORTH_COMPILING = 0\n"
    "from bpe_viz.cli import streaming\n"
    "streaming.LARGE_BYTES = streaming.COMPILED_BYTES = 0\n"
)

# Prints what was compiled, but for what came from the cache.
LISTENER = (
    "from numba.core import event\n"
    "class Compiled(event.Listener):\n"
    "    names = []\n"
    "    def on_start(self, event): self.names.append(event.data['dispatcher'].py_func.__qualname__)\n"
    "    def on_end(self, event): pass\n"
    "event.register('numba:compile', Compiled())\n"
)

COMMANDS = "from bpe_viz.cli import main\ndef run(*arguments):\n    assert main(list(arguments)) == 0, arguments\n"


def started(code: str, cache: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python code with a cache of its own."""
    return subprocess.run(
        [sys.executable, "-P", "-c", code, *map(str, arguments)],
        env={**os.environ, "BPE_VIZ_CACHE": str(cache), "PYTHONPATH": str(ROOT), **environment},
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip


@pytest.fixture(scope="session")
def filled() -> Path:
    """The file of the compiled kernels; compiling them takes half a minute if that was not done before."""
    compiled.load()
    assert compiled.is_ready()
    return compiled.cache_file()


@pytest.fixture
def cache(tmp_path) -> Path:
    """A folder for a cache, which is empty."""
    return tmp_path / "cache"


@pytest.fixture
def kept(cache, filled) -> Path:
    """The compiled kernels in that folder."""
    file = cache / "bpe-viz" / filled.name
    file.parent.mkdir(parents=True)
    shutil.copy(filled, file)
    return file


@pytest.fixture
def novel(tmp_path) -> Path:
    path = tmp_path / "novel.txt"
    path.write_text("the lowest of the low are lower than the newest and widest\n" * 400, encoding="utf-8")
    return path


def merges_of(output: Path) -> list[str]:
    merges: list[str] = json.loads(output.read_text(encoding="utf-8"))["model"]["merges"]
    return merges


class TestEmptyCache:
    def test_a_small_text_is_trained_on_without_compiling_anything(self, cache, novel, tmp_path):
        code = COMMANDS + (
            "import sys\n"
            "run('train', sys.argv[1], '-o', sys.argv[2], '--merges', '50')\n"
            "run('encode', sys.argv[2], 'the lowest')\n"
            "run('explain', sys.argv[2], 'the lowest')\n"
            "run('info', sys.argv[1])\n"
            "assert 'numba' not in sys.modules\n"
        )
        done = started(code, cache, novel, tmp_path / "novel.json")
        assert done.returncode == 0, done.stderr
        assert "ompil" not in done.stderr
        assert len(merges_of(tmp_path / "novel.json")) > 20
        assert not cache.exists()

    def test_the_window_steps_the_worked_example_before_anything_is_compiled(self, cache, tmp_path):
        code = (
            "import subprocess, sys\n"
            "from pathlib import Path\n"
            "from PySide6.QtCore import QTimer\n"
            "from bpe_viz.engine import compiled\n"
            "started = []\n"
            "def fill():\n"
            "    started.append(subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE))\n"
            "    return started[-1]\n"
            "compiled.start_filling_cache = fill\n"
            "from bpe_viz.gui.application import make_application, make_window\n"
            "from bpe_viz.gui.settings import Settings\n"
            "application = make_application()\n"
            "window = make_window(Settings(Path(sys.argv[1])))\n"
            "window.show()\n"
            "window.open_example()\n"
            "window.workspace.kernels.prepare()\n"
            "def act(frame):\n"
            "    if frame.position == 3:\n"
            "        print(frame.made.count, len(started), started[0].poll(), 'numba' in sys.modules)\n"
            "        QTimer.singleShot(0, window.close)\n"
            "    elif not window.workspace.is_training:\n"
            "        QTimer.singleShot(0, window.workspace.step)\n"
            "window.workspace.frame_changed.connect(act)\n"
            "status = application.exec()\n"
            "started[0].communicate(b'now')\n"
            "sys.exit(status)\n"
        )
        done = started(code, cache, tmp_path / "settings.ini", QT_QPA_PLATFORM="offscreen")
        assert (done.returncode, done.stdout.split()) == (0, ["7", "1", "None", "False"]), done.stderr


class TestFilledCache:
    def test_every_kernel_is_in_it(self, filled):
        entries = read_kernels(filled)
        assert entries is not None
        kept = {(module.rpartition(".")[2], name) for module, name, *_ in entries}
        for path in (ROOT / "bpe_viz" / "engine").glob("kernels*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            functions = {(path.stem, node.name) for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert functions <= kept

    def test_nothing_is_compiled_whatever_the_command(self, cache, kept, novel, tmp_path):
        code = LISTENER + ALL_IS_LARGE + COMMANDS + (
            "import sys\n"
            "text, output = sys.argv[1:]\n"
            "for options in ([], ['--base', 'characters'], ['--pretokenizer', 'cl100k'], ['--pretokenizer', 'o200k'],\n"
            "                ['--pretokenizer', 'none'], ['--pretokenizer', 'whitespace', '--end-of-word', 'glued'],\n"
            "                ['--documents', 'line'], ['--special', '<x>', '--normalize', 'NFC'],\n"
            "                ['--max-token-length', '4'], ['--weights', 'types']):\n"
            "    run('train', text, '-o', output, '--merges', '50', '--threads', '2', *options)\n"
            "run('train', text, '-o', output, '--merges', '50')\n"
            "run('encode', output, '--file', text, '--output', 'count')\n"
            "run('encode', output, 'a' * 300_000, '--output', 'count')\n"
            "run('explain', output, 'the lowest')\n"
            "run('info', text)\n"
            "print(Compiled.names)\n"
        )  # fmt: skip
        before = kept.read_bytes()
        done = started(code, cache, novel, tmp_path / "novel.json")
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == "[]"
        assert kept.read_bytes() == before

    def test_seeking_branching_and_splits_compile_nothing(self, cache, kept):
        code = LISTENER + (
            "from bpe_viz.engine import compiled\n"
            "from bpe_viz.engine.corpus import count_text\n"
            "from bpe_viz.engine.reader import Reader\n"
            "from bpe_viz.engine.trainer import Trainer\n"
            "from bpe_viz.engine.types import CountingOptions, Pair, TrainingOptions\n"
            "kernels = compiled.load()\n"
            "text = count_text('abab abc abc abd ' * 50 + 'a' * 5000, CountingOptions())\n"
            "trainer = Trainer(text.pretokens, TrainingOptions(), kernel_set=kernels)\n"
            "trainer.train_to()\n"
            "reader = Reader(trainer.timeline, kernel_set=kernels)\n"
            "for position in (0, trainer.frontier, 1, 2): reader.frame(position, top=5)\n"
            "branch = Trainer(text.pretokens, TrainingOptions(), kernel_set=kernels)\n"
            "branch.repeat(trainer.timeline.beginning(2))\n"
            "pair = reader.frame(2, top=5).top[1]\n"
            "branch.merge_pair(Pair(pair.left, pair.right))\n"
            "print(Compiled.names)\n"
        )
        done = started(code, cache)
        assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr

    def test_a_folder_of_the_package_that_cannot_be_written_is_not_written(self, cache, kept, novel, tmp_path):
        # Root may write anywhere, so it is looked for what was written.
        copy = tmp_path / "installed"
        copy.mkdir()
        shutil.copytree(ROOT / "bpe_viz", copy / "bpe_viz", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "resources", copy / "resources")
        before = sorted(copy.rglob("*"))
        for path in (*before, copy):
            path.chmod(0o555 if path.is_dir() else 0o444)
        code = LISTENER + ALL_IS_LARGE + COMMANDS + (
            "import sys, bpe_viz\n"
            "run('train', sys.argv[1], '-o', sys.argv[2], '--merges', '50')\n"
            "print(bpe_viz.__file__, Compiled.names)\n"
        )  # fmt: skip
        done = started(code, cache, novel, tmp_path / "novel.json", PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1")
        for path in (copy, *before):
            path.chmod(0o755)
        assert (done.returncode, done.stdout.split()) == (0, [str(copy / "bpe_viz" / "__init__.py"), "[]"]), done.stderr
        assert sorted(copy.rglob("*")) == before


# Stands for the half minute of compiling: the second argument takes the place of the first.
FILL_BY_COPYING = (
    "import subprocess, sys\n"
    "from bpe_viz.engine import compiled\n"
    "filling = []\n"
    "def fill():\n"
    "    copy = 'import os, shutil, sys; shutil.copy(sys.argv[2], sys.argv[1] + \"~\"); '\n"
    "    copy += 'os.replace(sys.argv[1] + \"~\", sys.argv[1])'\n"
    "    filling.append(subprocess.Popen([sys.executable, '-c', copy, *sys.argv[1:3]]))\n"
    "    return filling[-1]\n"
    "compiled.start_filling_cache = fill\n"
)


def cut_short(content: bytes) -> bytes:
    return content[: len(content) // 2]


def one_bit_turned(content: bytes) -> bytes:
    return content[:3_000_000] + bytes([content[3_000_000] ^ 4]) + content[3_000_001:]


@pytest.mark.parametrize(
    "damage", [cut_short, one_bit_turned, lambda content: b"", lambda content: b"garbage\n" * 9999, None],
    ids=["cut short", "a bit", "empty", "garbage", "absent"],
)  # fmt: skip
def test_a_damaged_cache_is_made_anew_and_nothing_goes_wrong(kept, cache, filled, novel, tmp_path, damage):
    if damage is None:
        kept.unlink()
    else:
        kept.write_bytes(damage(kept.read_bytes()))
    code = LISTENER + FILL_BY_COPYING + ALL_IS_LARGE + COMMANDS + (
        "run('train', sys.argv[3], '-o', sys.argv[4], '--merges', '50')\n"
        "print(len(filling), Compiled.names)\n"
    )  # fmt: skip
    done = started(code, cache, kept, filled, novel, tmp_path / "compiled.json")
    assert (done.returncode, done.stdout.split()) == (0, ["1", "[]"]), done.stderr
    assert done.stderr.count("Compiling the kernels") == 1
    assert kept.read_bytes() == filled.read_bytes()
    plain = started(COMMANDS + "import sys; run('train', *sys.argv[1:])", cache, novel, "-o", tmp_path / "plain.json",
                    "--merges", "50")  # fmt: skip
    assert plain.returncode == 0, plain.stderr
    assert merges_of(tmp_path / "compiled.json") == merges_of(tmp_path / "plain.json")


def test_where_the_cache_is_a_file_a_temporary_folder_serves(filled, novel, tmp_path):
    cache = tmp_path / "cache"
    cache.touch()
    temporary = tmp_path / "temporary"
    (temporary / f"bpe-viz-{os.getuid()}").mkdir(parents=True, mode=0o700)
    shutil.copy(filled, temporary / f"bpe-viz-{os.getuid()}")
    code = LISTENER + ALL_IS_LARGE + COMMANDS + (
        "import sys\n"
        "run('train', sys.argv[1], '-o', sys.argv[2], '--merges', '50')\n"
        "print(Compiled.names)\n"
    )  # fmt: skip
    done = started(code, cache, novel, tmp_path / "novel.json", TMPDIR=str(temporary))
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
    assert "cannot be kept" not in done.stderr


def test_where_nothing_can_be_kept_that_is_said_once_and_kernels_still_run(cache, tmp_path):
    code = (
        "import subprocess, sys\n"
        "import numpy as np\n"
        "from bpe_viz.engine import compiled, kernels_boundaries\n"
        "compiled.start_filling_cache = lambda: subprocess.Popen([sys.executable, '-c', 'import sys; sys.exit(1)'])\n"
        "from bpe_viz.cli.compiling import choose_kernels\n"
        "assert choose_kernels(True, False) is None\n"
        "kernels = choose_kernels(True, True)\n"
        "assert choose_kernels(True, True) is kernels\n"
        "table = np.full(16, -1)\n"
        "find = kernels.of(kernels_boundaries).find_pair\n"
        "print(find(table, 1, 2), kernels.compiled)\n"
    )
    done = started(code, cache)
    assert (done.returncode, done.stdout.split()) == (0, ["-1", "True"]), done.stderr
    assert done.stderr.count("Compiling the kernels") == 1
    assert done.stderr.count("cannot be kept") == 1
    assert len(done.stderr.splitlines()) == 2


def test_filling_takes_no_module_from_the_folder_that_it_was_started_in(cache, tmp_path, monkeypatch):
    (tmp_path / "numpy.py").write_text("open('imported', 'w')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BPE_VIZ_CACHE", str(cache))
    filling = compiled.start_filling_cache()
    try:
        # By its processor time it is beyond its imports: see proc(5).
        ticks = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 1
        while filling.poll() is None and _processor_ticks(filling.pid) < 2 * ticks:
            time.sleep(0)
        assert filling.poll() is None
        assert not (tmp_path / "imported").exists()
    finally:
        filling.kill()
        filling.wait()


def _processor_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
