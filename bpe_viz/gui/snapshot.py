"""Figures without a screen: the window is built off screen, brought to a position, and drawn into a file."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bpe_viz.engine.row_order import parse_filter
from bpe_viz.engine.types import CountingOptions, Options, Pair
from bpe_viz.engine.visible import visible
from bpe_viz.errors import OptionError, Stopped
from bpe_viz.gui.startup import check_qt_libraries

if TYPE_CHECKING:
    from PySide6.QtCore import QMessageLogContext, QtMsgType

    from bpe_viz.gui.window import Window
    from bpe_viz.gui.workspace import Workspace

EXAMPLE = "example"
"""The name of the worked example where a source is expected."""

_POLL_MILLISECONDS = 5
_SECONDS_TO_SETTLE = 0.2
_interrupted: list[object] = []


def snapshot(
    source: str,
    out: Path,
    *,
    options: Options | None,
    given: CountingOptions | None = None,
    only_trains: Sequence[str] = (),
    position: int | None = None,
    instead: str | None = None,
    replay: str | None = None,
    panel: str | None = None,
    text: str | None = None,
    theme: str = "light",
    size: tuple[int, int] = (1280, 800),
    scale: float = 1.0,
) -> list[str]:
    """Draw the window, or one panel of it, at a position.

    source: a text, folder or table, EXAMPLE, or a tokenizer by its file or name
    options: of a corpus; None: those that the source has by itself
    given: how text is cut by a tokenizer whose file does not say it
    only_trains: names of options that were given and mean nothing to a tokenizer, which then is refused
    position: None: where training, or the merge list, ends
    instead: a pair such as [n][e] to merge there, whatever the rule says; what follows is shown
    replay: a text or table on which a tokenizer's merges are made again; None: it is shown alone
    panel: a panel's name; None: the whole window
    text: what the encode panel shows; None: what it shows by itself
    size: of the window, in device-independent pixels; scale: pixels of a PNG for each of them
    Returns what is not as it was asked for, in plain words.
    Raises BpeVizError for what cannot be opened, trained, found or written; KeyboardInterrupt at Ctrl+C; and
    whatever a lane or a slot raised, which is a bug.
    """
    # Whatever screen there is stays untouched.
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    check_qt_libraries()
    begin = partial(_open, source=source, replay=replay, options=options, given=given, only_trains=only_trains)
    return _draw(begin, out, position, instead, panel, text, theme, size, scale)


def _draw(
    begin: Callable[[Window], None],
    out: Path,
    position: int | None,
    instead: str | None,
    panel: str | None,
    text: str | None,
    theme: str,
    size: tuple[int, int],
    scale: float,
) -> list[str]:
    from tempfile import TemporaryDirectory

    from PySide6.QtCore import qInstallMessageHandler

    from bpe_viz.gui.application import make_application, make_window
    from bpe_viz.gui.export import export_figure
    from bpe_viz.gui.look import Look
    from bpe_viz.gui.settings import Settings

    qInstallMessageHandler(_tell)
    make_application()
    with TemporaryDirectory() as folder, _raised_in_qt() as raised:
        window = make_window(Settings(Path(folder) / "settings.ini"), Look(theme))
        try:
            names = [spec.name for spec in window.docks.specs]
            if panel is not None and panel not in names:
                raise OptionError(f"There is no panel named {panel!r}.", f"Choose one of: {', '.join(names)}.")
            window.resize(*size)
            window.show()
            begin(window)
            if text is not None:
                window.workspace.encoder.set_text(text)
            _bring_to(window.workspace, position, raised)
            if instead is not None:
                _branch(window.workspace, instead, raised)
            window.messages.dismiss()
            _wait_until(lambda: window.workspace.fidelity.is_settled, raised)
            _settle(raised)
            notes = _size_notes(size, (window.width(), window.height()))
            export_figure(window if panel is None else window.docks.dock(panel), out, scale)
        except KeyboardInterrupt:
            # Closing waits for the lanes, and one may be inside a read or a search that nothing stops; without
            # closing, the window must outlive them.
            _interrupted.append(window)
            raise
        except BaseException:
            window.close()
            raise
        window.close()
        return notes


def _open(
    window: Window,
    source: str,
    replay: str | None,
    options: Options | None,
    given: CountingOptions | None,
    only_trains: Sequence[str],
) -> None:
    """Begin to open what is to be drawn.

    Raises OptionError for a corpus that replays nothing and for a tokenizer that is to be trained, FormatError.
    """
    from bpe_viz.gui.sources import example_source, file_source, sort_sources

    tokenizer = None if source == EXAMPLE else sort_sources([source]).tokenizer
    if tokenizer is not None:
        corpus = None if replay is None else file_source([Path(replay)])
        if only_trains:
            raise OptionError(
                f"{source} is a tokenizer, and nothing is trained.", f"Leave out {', '.join(only_trains)}."
            )
        window.workspace.pretokenizer_needed.connect(lambda error, retry: window.workspace.failed.emit(error))
        window.opener.open(replace(tokenizer, given=given), corpus)
    elif replay is not None:
        raise OptionError(f"{source} is no tokenizer, whose merges could be replayed.", "Leave out --replay.")
    else:
        window.open_source(example_source() if source == EXAMPLE else file_source([Path(source)]), options)


def _size_notes(wanted: tuple[int, int], drawn: tuple[int, int]) -> list[str]:
    if drawn == wanted:
        return []
    asked, got = (f"{width}x{height}" for width, height in (wanted, drawn))
    return [f"The window cannot be as small as {asked}: it was drawn at {got}."]


def _tell(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    """Pass Qt's warnings on, but not what the platform without a screen says of each window that is shown."""
    if not text.startswith("This plugin does not support"):
        sys.stderr.write(f"{text}\n")


@contextmanager
def _raised_in_qt() -> Iterator[list[BaseException]]:
    """Collect what is raised inside Qt's event loop, which has no caller to raise it to.

    Ctrl+C is collected as well: raised in the middle of a paint event, it would crash Qt.
    """
    raised: list[BaseException] = []
    before = sys.excepthook
    sys.excepthook = lambda kind, error, trace: raised.append(error.with_traceback(trace))
    handler = signal.signal(signal.SIGINT, lambda *_: raised.append(KeyboardInterrupt()))
    try:
        yield raised
    finally:
        sys.excepthook = before
        signal.signal(signal.SIGINT, handler)


def _bring_to(workspace: Workspace, position: int | None, raised: list[BaseException]) -> None:
    """Wait until the workspace shows this position, with everything that belongs to it."""
    workspace.failed.connect(raised.append)
    _wait_until(lambda: workspace.shown is not None and not workspace.is_training, raised)
    if position is not None and not 0 <= position <= workspace.last_position:
        raise OptionError(
            f"There is no position {position}: there are the positions 0 to {workspace.last_position}.",
            "Give one of these.",
        )
    wanted = workspace.last_position if position is None else position
    workspace.seek(wanted)
    _wait_until(lambda: workspace.is_settled, raised)


def _branch(workspace: Workspace, written: str, raised: list[BaseException]) -> None:
    """Merge a pair at the position that is shown, and wait until what follows is."""
    wanted, frame = parse_filter(written).symbols, workspace.frame
    if len(wanted) != 2 or frame is None:
        raise OptionError(f"{written!r} names no pair.", "Write both symbols in brackets, such as [n][e].")
    symbols = frame.symbols
    # Symbols of later merges are known as well, but do not occur yet.
    ids = {symbols.label(symbol): symbol for symbol in range(len(symbols.base) + frame.position)}
    lacking = next((label for label in wanted if label not in ids), None)
    if lacking is not None:
        raise OptionError(f"There is no symbol {visible(lacking)} at position {frame.position:,}.", "Name others.")
    workspace.branch(Pair(ids[wanted[0]], ids[wanted[1]]))
    _wait_until(lambda: workspace.is_settled, raised)


def _wait_until(condition: Callable[[], bool], raised: list[BaseException]) -> None:
    """Run Qt's event loop until a condition holds; raise the first error of those that were raised in it."""
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()

    def look() -> None:
        if raised or condition():
            loop.quit()

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(_POLL_MILLISECONDS)
    loop.exec()
    timer.stop()
    if raised:
        # Behind a bug in a lane its work is answered as stopped, so that nothing waits for it.
        raise next((error for error in raised if not isinstance(error, Stopped)), raised[0])


def _settle(raised: list[BaseException]) -> None:
    """Let layouts and animations come to rest."""
    until = time.monotonic() + _SECONDS_TO_SETTLE
    _wait_until(lambda: time.monotonic() > until, raised)
