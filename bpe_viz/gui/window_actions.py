"""Which actions there are: the table of the window's actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_viz.engine.narration import pair_text
from bpe_viz.engine.types import Pair
from bpe_viz.gui import speeds
from bpe_viz.gui.actions import ActionSpec
from bpe_viz.gui.theme import SYSTEM_THEME, load_theme, theme_names

if TYPE_CHECKING:
    from bpe_viz.gui.window import Window

_MANY = 10


def action_table(window: Window) -> list[ActionSpec]:
    """Return all actions of a window, in the order of the menus."""
    return [*_file(window), *_tokenizer(window), *_go(window), *_edit(window), *_view(window), *_help(window)]


def _file(window: Window) -> list[ActionSpec]:
    workspace = window.workspace

    def is_open() -> bool:
        return workspace.merges is not None

    def is_counted() -> bool:
        return workspace.corpus is not None

    return [
        ActionSpec("open", "File", "Open text or table…", window.ask_files, ("Ctrl+O",)),
        ActionSpec("open-folder", "File", "Open folder…", window.ask_folder, ("Ctrl+Shift+O",)),
        ActionSpec("paste-corpus", "File", "Train on the text in the clipboard", window.paste_corpus, ("Ctrl+Shift+V",)),
        ActionSpec("example", "File", "Worked example", window.open_example),
        ActionSpec("save-tokenizer", "File", "Save tokenizer…", window.saver.ask_where, ("Ctrl+Shift+S",), is_enabled=is_open),
        ActionSpec("save-counts", "File", "Save word counts…", window.saver.ask_where_counts, is_enabled=is_counted),
        ActionSpec("export", "File", "Export figure…", window.export_figure, ("Ctrl+E",), is_enabled=is_open),
        ActionSpec("quit", "File", "Quit", window.quit, ("Ctrl+Q",)),
    ]  # fmt: skip


def _tokenizer(window: Window) -> list[ActionSpec]:
    workspace, opener = window.workspace, window.opener

    def can_replay() -> bool:
        return workspace.tokenizer is not None and workspace.why_no_replay is None

    def is_replayed() -> bool:
        return workspace.tokenizer is not None and workspace.corpus is not None

    return [
        ActionSpec("open-tokenizer", "Tokenizer", "Open tokenizer…", opener.ask_tokenizer, ("Ctrl+Shift+T",)),
        ActionSpec("replay", "Tokenizer", "Replay its merges on a text…", opener.ask_replay_text, ("Ctrl+R",), is_enabled=can_replay),
        ActionSpec("next-occurring", "Tokenizer", "Next merge that occurs in the text", lambda: workspace.step_to_occurring(True), (), ("N",), is_replayed),
        ActionSpec("previous-occurring", "Tokenizer", "Previous merge that occurs in the text", lambda: workspace.step_to_occurring(False), (), ("Shift+N",), is_replayed),
        ActionSpec("next-departing", "Tokenizer", "Next merge where training would depart", lambda: workspace.step_to_departing(True), (), ("D",), is_replayed),
        ActionSpec("previous-departing", "Tokenizer", "Previous merge where training would depart", lambda: workspace.step_to_departing(False), (), ("Shift+D",), is_replayed),
        ActionSpec("train-on-corpus", "Tokenizer", "Train a new tokenizer on the corpus", window.train_on_corpus, is_enabled=lambda: window.corpus_to_train_on is not None),
    ]  # fmt: skip


def _go(window: Window) -> list[ActionSpec]:
    workspace, branches = window.workspace, window.workspace.branches

    def at_start() -> bool:
        return workspace.position == 0

    def at_end() -> bool:
        return workspace.position >= workspace.last_position

    def step(merges: int) -> None:
        workspace.step(merges)

    def train() -> None:
        if workspace.is_training:
            workspace.stop_training()
        else:
            workspace.train_ahead()

    return [
        ActionSpec("next", "Go", "Next merge", lambda: step(1), ("Alt+Right",), ("Right",), lambda: not at_end()),
        ActionSpec("back", "Go", "One merge back", lambda: step(-1), ("Alt+Left",), ("Left",), lambda: not at_start()),
        ActionSpec("next-many", "Go", f"{_MANY} merges on", lambda: step(_MANY), ("Alt+Shift+Right",), ("Shift+Right",), lambda: not at_end()),
        ActionSpec("back-many", "Go", f"{_MANY} merges back", lambda: step(-_MANY), ("Alt+Shift+Left",), ("Shift+Left",), lambda: not at_start()),
        ActionSpec("next-stop", "Go", "Next breakpoint", lambda: workspace.player.seek_breakpoint(True), (), ("PgDown",), lambda: not at_end()),
        ActionSpec("previous-stop", "Go", "Previous breakpoint", lambda: workspace.player.seek_breakpoint(False), (), ("PgUp",), lambda: not at_start()),
        ActionSpec("first", "Go", "First position", lambda: workspace.jump(0), (), ("Home",), lambda: not at_start()),
        ActionSpec("last", "Go", "Last position", lambda: workspace.jump(workspace.last_position), (), ("End",), lambda: not at_end()),
        ActionSpec("play", "Go", "Play or pause", workspace.player.toggle, (), ("Space",), lambda: workspace.last_position > 0),
        ActionSpec("faster", "Go", "Faster", lambda: workspace.player.set_speed(speeds.faster(workspace.player.speed)), (), ("+",)),
        ActionSpec("slower", "Go", "Slower", lambda: workspace.player.set_speed(speeds.slower(workspace.player.speed)), (), ("-",)),
        ActionSpec("go-to", "Go", "Go to a merge…", lambda: window.docks.activate("timeline"), (), ("G",), lambda: workspace.last_position > 0),
        ActionSpec("next-line", "Go", "Next branch, or the main timeline", lambda: branches.show_next(workspace.position), ("Ctrl+B",), is_enabled=lambda: len(branches.lines) > 1),
        ActionSpec("breakpoint", "Go", "Breakpoint here", workspace.player.toggle_breakpoint, (), ("B",)),
        ActionSpec("stop", "Go", "Stop training or replaying, or go on", train, ("Ctrl+.",)),
    ]  # fmt: skip


def _edit(window: Window) -> list[ActionSpec]:
    workspace, branches = window.workspace, window.workspace.branches

    def selected() -> Pair | None:
        return workspace.selection.pair if workspace.selection else None

    def branch() -> None:
        if (pair := selected()) is not None:
            workspace.branch(pair)

    def branch_title() -> str:
        pair, frame = selected(), workspace.frame
        if workspace.tokenizer is not None:
            return f"Merge another pair: not in the list of {workspace.tokenizer.name}, which stands as it is"
        if pair is None or frame is None or max(pair) >= len(frame.symbols):
            return "Merge the selected pair instead"
        return f"Merge {pair_text(pair, frame.symbols)} instead"

    def named(what: str, title: str | None) -> str:
        return what if title is None else f"{what}: {title}"

    return [
        ActionSpec("undo", "Edit", "Undo a branch", branches.undo, ("Ctrl+Z",), is_enabled=lambda: branches.undo_title is not None, title_now=lambda: named("Undo", branches.undo_title)),
        ActionSpec("redo", "Edit", "Redo a branch", branches.redo, ("Ctrl+Shift+Z",), is_enabled=lambda: branches.redo_title is not None, title_now=lambda: named("Redo", branches.redo_title)),
        ActionSpec("branch", "Edit", "Merge the selected pair instead", branch, (), ("M",), lambda: selected() is not None and workspace.why_no_branch is None, title_now=branch_title),
        ActionSpec("find", "Edit", "Find a token in the merge list", lambda: window.docks.activate("merge_list"), ("Ctrl+F",)),
        ActionSpec("encode-text", "Edit", "Type a text to encode", lambda: window.docks.activate("encode"), ("Ctrl+T",)),
        ActionSpec("filter-words", "Edit", "Filter the word splits", lambda: window.docks.activate("word_splits"), ("Ctrl+Shift+F",)),
        ActionSpec("options", "Edit", "Training options…", window.bar.ask_more, ("Ctrl+,",)),
        ActionSpec("pattern", "Edit", "Pretokenizer with a pattern of your own…", window.bar.ask_pattern),
    ]  # fmt: skip


def _view(window: Window) -> list[ActionSpec]:
    def theme(name: str, title: str) -> ActionSpec:
        return ActionSpec(
            f"theme-{name}",
            "View",
            f"Theme: {title}",
            lambda: window.set_theme(name),
            is_checked=lambda: window.look.theme_choice == name,
        )

    def panel(name: str, title: str) -> ActionSpec:
        return ActionSpec(
            f"panel-{name}",
            "View",
            f"Panel: {title[:1].lower()}{title[1:]}",
            lambda: window.docks.toggle(name),
            is_checked=lambda: not window.docks.dock(name).isHidden(),
        )

    return [
        ActionSpec("larger", "View", "Larger type", lambda: window.zoom(1), ("Ctrl++", "Ctrl+=")),
        ActionSpec("smaller", "View", "Smaller type", lambda: window.zoom(-1), ("Ctrl+-",)),
        ActionSpec("normal", "View", "Normal type", lambda: window.zoom(0), ("Ctrl+0",)),
        theme(SYSTEM_THEME, "as the system"),
        *(theme(name, load_theme(name).title.lower()) for name in theme_names()),
        ActionSpec("full-screen", "View", "Full screen", window.toggle_full_screen, ("F11",), is_checked=window.isFullScreen),
        ActionSpec("next-panel", "View", "Next panel", window.docks.focus_next, ("F6",)),
        *(panel(spec.name, spec.title) for spec in window.docks.specs),
        ActionSpec("default-layout", "View", "Default layout", window.docks.restore_default),
    ]  # fmt: skip


def _help(window: Window) -> list[ActionSpec]:
    return [
        ActionSpec("keys", "Help", "All keys", window.show_keys, ("F1",), ("?",)),
        ActionSpec("palette", "Help", "Find an action by name…", window.show_palette, ("Ctrl+Shift+P",)),
        ActionSpec("leave", "Help", "Dismiss, leave, give the keys to the timeline", window.leave, (), ("Esc",)),
    ]  # fmt: skip
