"""The layers, read from the imports: a wrong import fails here."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "bpe_viz"
MODULES = sorted(PACKAGE.rglob("*.py"))

QT = ("PySide6", "pyqtgraph", "shiboken6")

_SERVICES = ("engine", "formats", "names", "verification", "analysis")

# What each layer may import of the layers; the first that a module's name starts with counts.
MAY_IMPORT = {
    "bpe_viz.errors": (),
    "bpe_viz.whole_file": ("errors",),
    "bpe_viz.assets": ("errors",),
    "bpe_viz.engine": ("errors", "whole_file", "engine"),
    "bpe_viz.formats": ("errors", "whole_file", "engine", "formats"),
    "bpe_viz.names": ("errors", "whole_file", "engine", "formats", "names"),
    "bpe_viz.verification": ("errors", "engine", "formats", "names", "verification"),
    "bpe_viz.analysis": ("errors", "engine", "analysis"),
    "bpe_viz.cli": (
        "errors",
        "whole_file",
        "assets",
        "engine",
        "formats",
        "names",
        "verification",
        "analysis",
        "cli",
        "gui",
        "",
    ),
    "bpe_viz.__main__": ("cli",),
    "bpe_viz.gui": ("errors", "whole_file", "assets", *_SERVICES, "gui"),
}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imports(path: Path) -> list[str]:
    """Return every module that a file imports, anywhere in it."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full"
            found.append(node.module or "")
    return found


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_down(path):
    name = name_of(path)
    layer = next((layer for layer in MAY_IMPORT if name == layer or name.startswith(layer + ".")), None)
    if layer is None:
        assert name == "bpe_viz", f"{name} stands in no layer"
        return
    for imported in imports(path):
        if imported == "bpe_viz" or imported.startswith("bpe_viz."):
            target = imported.split(".")[1] if "." in imported else ""
            assert target in MAY_IMPORT[layer], f"{name} imports {imported}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_the_gui_imports_qt(path):
    if not name_of(path).startswith("bpe_viz.gui"):
        assert not [imported for imported in imports(path) if imported.split(".")[0] in QT]


@pytest.mark.parametrize("path", sorted((PACKAGE / "gui" / "panels").glob("*.py")), ids=name_of)
def test_panels_import_neither_each_other_nor_the_window(path):
    for imported in imports(path):
        assert not imported.startswith("bpe_viz.gui.panels")
        assert imported not in ("bpe_viz.gui.window", "bpe_viz.gui.application")


def test_the_workspace_imports_no_widget():
    modules = (
        "workspace", "answers", "branches", "jobs", "kernel_choice", "opening", "playing", "row_listing", "selection",
        "text_encoder", "training", "training_changes",
    )  # fmt: skip
    for module in modules:
        for imported in imports(PACKAGE / "gui" / f"{module}.py"):
            assert not imported.startswith(("PySide6.QtWidgets", "PySide6.QtGui", "bpe_viz.gui.panel"))


def test_the_kernels_import_nothing_of_ours_but_kernels():
    for path in (PACKAGE / "engine").glob("kernels*.py"):
        assert not [i for i in imports(path) if i.startswith("bpe_viz") and "engine.kernels" not in i]


def test_importing_the_engine_loads_neither_qt_nor_numba():
    code = (
        "import sys, bpe_viz.engine.trainer, bpe_viz.engine.tokenizer, bpe_viz.engine.corpus, bpe_viz.formats;"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'PySide6', 'pyqtgraph', 'numba'}))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert printed.stdout.strip() == "[]"


def test_every_folder_of_the_package_is_shipped():
    import tomllib

    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = {name_of(path) for path in PACKAGE.rglob("__init__.py")}
    # The pictures are the README's; the program does without them.
    resources_used = [file for file in (ROOT / "resources").rglob("*") if "pictures" not in file.parts]
    filled = {file.parent for file in resources_used if file.is_file()}
    resources = {".".join(("bpe_viz", *folder.relative_to(ROOT).parts)) for folder in filled}
    assert folders | resources <= set(listed)


def _texts(path: Path) -> list[tuple[int, str]]:
    """Return the strings of a file with their lines, docstrings left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [(node.lineno, node.value) for node in strings if id(node) not in told]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_people_read_the_name_that_they_type(path):
    """The program is bpe-viz; bpe_viz is its package."""
    assert [line for line, text in _texts(path) if re.search(r"\bbpe_viz(?! *[.=])\b(?<!-m bpe_viz)", text)] == []
