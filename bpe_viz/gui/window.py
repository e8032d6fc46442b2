"""The window: puts corpus bar, message bar, panels and actions together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, QTimer, Slot
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QInputDialog,
    QLabel,
    QLayout,
    QMainWindow,
    QVBoxLayout,
    QWidget,
)

from bpe_viz.engine.corpus import Corpus
from bpe_viz.engine.types import Options
from bpe_viz.errors import BpeVizError, CorpusError
from bpe_viz.gui.action_lists import KeySheet, Palette
from bpe_viz.gui.actions import GROUPS, Actions
from bpe_viz.gui.corpus_bar import CorpusBar
from bpe_viz.gui.elided_label import ElidedLabel
from bpe_viz.gui.export import export_figure, figure_filters
from bpe_viz.gui.layout import LAYOUT_VERSION, Docks
from bpe_viz.gui.look import Look
from bpe_viz.gui.message_bar import MessageBar
from bpe_viz.gui.saver import Saver
from bpe_viz.gui.settings import Settings
from bpe_viz.gui.sources import Source, example_source, file_source, sort_sources, text_source
from bpe_viz.gui.style_sheet import palette, style_sheet
from bpe_viz.gui.summaries import SAMPLE_TEXT, summary_of_corpus, summary_of_tokenizer
from bpe_viz.gui.tokenizer_opener import TokenizerOpener
from bpe_viz.gui.window_actions import action_table
from bpe_viz.gui.workspace import Workspace

_ZOOM_STEP = 1.1
_SHARE_OF_SCREEN = 0.95
_LEAST_SIZE = (480, 360)
_LEAST_HEIGHT_WITH_STATUS = 400


class Window(QMainWindow):
    """One window over one workspace."""

    def __init__(self, workspace: Workspace, look: Look, settings: Settings) -> None:
        super().__init__()
        self.workspace = workspace
        self.look = look
        self.settings = settings
        self._options_chosen = False
        self._stands_in = False
        self.setAcceptDrops(True)
        self.bar = CorpusBar(workspace, look)
        self.bar.wanted.connect(self.change_options)
        self.messages = MessageBar(look)
        self._top = QWidget()
        column = QVBoxLayout(self._top)
        column.addWidget(self.bar)
        column.addWidget(self.messages)
        self.setMenuWidget(self._top)
        own_layout = self.layout()
        if own_layout is not None:
            # Else large type would make the window larger than the screen.
            own_layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self.setMinimumSize(*_LEAST_SIZE)
        self._summary = ElidedLabel()
        self._hints = QLabel("Right: next merge  ·  Left: one back  ·  Space: play  ·  F1: all keys")
        self.statusBar().setSizeGripEnabled(False)
        self.statusBar().addWidget(self._summary, 1)
        self.statusBar().addPermanentWidget(self._hints)
        self.docks = Docks(self, workspace, look)
        self.opener = TokenizerOpener(workspace, look, settings, self)
        self.saver = Saver(workspace, look, settings, self)
        self.actions_table = Actions(action_table(self), self)
        self._fill_menus()
        self._connect()
        self._fit_look()
        self._restore()

    def _connect(self) -> None:
        workspace = self.workspace
        workspace.failed.connect(self._show_failure)
        workspace.noticed.connect(self.messages.show_notice)
        workspace.corpus_changed.connect(self._show_corpus)
        self.look.changed.connect(self._fit_look)

    def _fill_menus(self) -> None:
        for group in GROUPS:
            menu = self.bar.brand.menu.addMenu(group)
            self.actions_table.add_to_menu(menu, group)
        self.actions_table.add_to_menu(self.bar.corpus.menu, "File")
        self.bar.corpus.menu.addSeparator()
        self._recent = self.bar.corpus.menu.addMenu("Recent files")
        self._recent.aboutToShow.connect(self._list_recent)
        self.actions_table.add_to_menu(self.bar.tokenizer.menu, "Tokenizer")

    # --- opening ---

    def open_source(self, source: Source, options: Options | None = None) -> None:
        """Train on a source; what is shown stays until that has succeeded.

        options: None keeps what the user chose, or takes the source's own
        """
        if options is None:
            kept = self._options_chosen and source.paths
            options = self.workspace.wanted_options if kept else source.options
        self.opener.coming = source
        count = partial(source.count, kernels_for=self.workspace.kernels.for_bytes)
        self.workspace.open(count, options, source.name)

    def open_paths(self, paths: Sequence[Path]) -> None:
        """Train on texts, open a tokenizer, or both: see open_sources."""
        self.open_sources([str(path) for path in paths])

    def open_sources(self, sources: Sequence[str]) -> None:
        """Train on texts, open a tokenizer by its file or name, or both: its merges are replayed on the texts.

        Says so in the message bar if they cannot be opened.
        """
        try:
            found = sort_sources(sources)
        except BpeVizError as error:
            self._show_failure(error)
            return
        corpus = file_source(found.corpus) if found.corpus else None
        if found.tokenizer is None and corpus is not None:
            self.opener.ask_what_for(corpus, partial(self.open_source, corpus))
        elif found.tokenizer is not None and corpus is not None:
            self.opener.open(found.tokenizer, corpus)
        elif found.tokenizer is not None:
            self.opener.ask_on_what(found.tokenizer)

    def open_example(self) -> None:
        """Train on the worked example."""
        self._options_chosen = False
        self.open_source(example_source())

    @property
    def corpus_to_train_on(self) -> Source | None:
        """The text beside the tokenizer that is open, which a new one could be trained on; None if there is none."""
        return self.opener.last_corpus if self.workspace.tokenizer is not None else None

    def train_on_corpus(self) -> None:
        """Close the tokenizer, and train a new one on the text."""
        if (source := self.corpus_to_train_on) is not None:
            self.open_source(source)

    def ask_files(self) -> None:
        """Ask for text files or tables and train on them."""
        names, _ = QFileDialog.getOpenFileNames(self, "Open text or word tables", self._folder())
        if names:
            self.open_paths([Path(name) for name in names])

    def ask_folder(self) -> None:
        """Ask for a folder and train on all text files below it."""
        name = QFileDialog.getExistingDirectory(self, "Open a folder of text files", self._folder())
        if name:
            self.open_paths([Path(name)])

    def paste_corpus(self) -> None:
        """Train on the text in the clipboard."""
        text = QGuiApplication.clipboard().text()
        if text:
            source = text_source(text)
            self.opener.ask_what_for(source, partial(self.open_source, source))
        else:
            self.messages.show_error(CorpusError("The clipboard holds no text.", "Copy some, then try again."))

    @Slot(object)
    def _show_failure(self, error: BpeVizError) -> None:
        """Say what went wrong; a window that has nothing to show yet shows the worked example meanwhile."""
        self.messages.show_error(error)
        if self.workspace.shown is None and not self.workspace.is_training:
            self._stands_in = True
            self.open_example()

    @Slot(object)
    def change_options(self, options: Options) -> None:
        """Train again with other options."""
        self._options_chosen = True
        self.workspace.change_options(options)

    def export_figure(self) -> None:
        """Ask which panel and where, and write a figure of it."""
        titles = {"Whole window": None, **{spec.title: spec.name for spec in self.docks.specs}}
        title, accepted = QInputDialog.getItem(self, "Export figure", "Figure of", list(titles), 0, False)
        if not accepted:
            return
        suggested = str(Path(self._folder()) / "figure.svg")
        name, _ = QFileDialog.getSaveFileName(self, "Export figure", suggested, figure_filters())
        if not name:
            return
        panel = titles[title]
        widget = self if panel is None else self.docks.dock(panel)
        try:
            export_figure(widget, Path(name))
        except BpeVizError as error:
            self.messages.show_error(error)
        else:
            self.messages.show_notice(f"Wrote {name}.")

    def _folder(self) -> str:
        return str(self.settings.last_folder or Path.home())

    @Slot()
    def _list_recent(self) -> None:
        self._recent.clear()
        for path in self.settings.recent_files:
            action = self._recent.addAction(str(path).replace("&", "&&"))
            action.triggered.connect(lambda _=False, path=path: self.open_paths([path]))
        if self._recent.isEmpty():
            self._recent.addAction("No file was opened yet").setEnabled(False)

    # --- looks and lists ---

    def set_theme(self, name: str) -> None:
        """Show another theme, and remember it."""
        self.look.set_theme(name)
        self.settings.theme = name

    def zoom(self, steps: int) -> None:
        """Make all type larger or smaller; 0 makes it normal again."""
        self.docks.keep_shares()
        self.look.set_zoom(1.0 if steps == 0 else self.look.zoom * _ZOOM_STEP**steps)
        self.settings.zoom = self.look.zoom
        # The panels ask for other sizes only once their layouts have seen the new type.
        QTimer.singleShot(0, self.docks.give_shares)

    def show_palette(self) -> None:
        """Find an action by name."""
        Palette(self.actions_table, self).show()

    def show_keys(self) -> None:
        """Show the sheet of all keys."""
        KeySheet(self.actions_table, self).show()

    def quit(self) -> None:
        """Close the window, which ends the program."""
        self.close()

    def toggle_full_screen(self) -> None:
        """Fill the screen, or leave it."""
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def leave(self) -> None:
        """Esc: dismiss a message, else leave full screen, else give the keys to the timeline."""
        if self.messages.text:
            self.messages.dismiss()
        elif self.isFullScreen():
            self.toggle_full_screen()
        else:
            self.docks.focus("timeline")
            self.workspace.select(None)

    @Slot(object)
    def _show_corpus(self, corpus: Corpus | None) -> None:
        if self._stands_in:
            self._stands_in = False  # the message says why it does
        else:
            self.messages.dismiss_older()
        self.opener.note_opened(corpus)
        tokenizer, source = self.workspace.tokenizer, self.workspace.tokenizer_source
        self.workspace.encoder.suggest_text(SAMPLE_TEXT if corpus is None else corpus.excerpt)
        for path in map(Path, () if corpus is None else corpus.sources):
            self.settings.add_recent_file(path.absolute())
            self.settings.last_folder = path.absolute().parent
        if source is not None:
            self.settings.add_recent_tokenizer(source.written)
        names = [one.name for one in (tokenizer, corpus) if one is not None]
        self.setWindowTitle(f"{' on '.join(names)} – bpe-viz")
        said = [summary_of_tokenizer(tokenizer)] if tokenizer is not None else []
        said += [summary_of_corpus(corpus)] if corpus is not None else []
        self._summary.setText(" · ".join(said))

    @Slot()
    def _fit_look(self) -> None:
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.setPalette(palette(self.look))
            application.setStyleSheet(style_sheet(self.look))
        grid = self.look.grid
        layout = self._top.layout()
        if layout is not None:
            edge = min(grid, 12)
            layout.setContentsMargins(0, edge, 0, edge)
            layout.setSpacing(edge)
        self.setContentsMargins(grid, 0, grid, 0)
        self.statusBar().setContentsMargins(0, 0, 0, 0)
        self.statusBar().setFixedHeight(self.look.px(26))
        self.docks.fit_window()
        self._fit_status()

    def _fit_status(self) -> None:
        """Leave the room of hints and summary to the panels where type is large for the window."""
        width = self.look.ui_metrics().horizontalAdvance(self._hints.text())
        self._hints.setVisible(2 * width < self.width())
        self.statusBar().setVisible(self.height() > _LEAST_HEIGHT_WITH_STATUS * self.look.zoom)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share out another size."""
        super().resizeEvent(event)
        if event.size() != event.oldSize():  # Qt sends one for other margins, too
            self.docks.forget_shares()
        self.docks.fit_window()
        self._fit_status()

    def _restore(self) -> None:
        # Of what is available, some is for the frame.
        most = self.screen().availableSize() * _SHARE_OF_SCREEN
        self.resize(QSize(1280, 800).boundedTo(most))
        if (geometry := self.settings.geometry) is not None:
            self.restoreGeometry(geometry)
        state = self.settings.dock_state(LAYOUT_VERSION)
        if state is None or not self.restoreState(state, LAYOUT_VERSION):
            # Docks take their share only once the window has a size.
            QTimer.singleShot(0, self.docks.restore_default)
        self.workspace.player.set_speed(self.settings.speed)
        self.docks.focus("timeline")

    # --- events ---

    def event(self, event: QEvent) -> bool:
        """Qt moves the lines between panels by itself, and tells nobody."""
        done = super().event(event)
        if event.type() == QEvent.Type.MouseButtonRelease:
            self.docks.forget_shares()
        return done

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Plain keys arrive here when no widget with the focus used them."""
        if not self.actions_table.handle_key(event):
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom with Ctrl; panels leave such turns of the wheel to the window."""
        turned = event.angleDelta().y()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and turned:
            self.zoom(1 if turned > 0 else -1)
            event.accept()
        else:
            super().wheelEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files and folders."""
        if _local_paths(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Train on what was dropped."""
        event.acceptProposedAction()
        self.open_paths(_local_paths(event.mimeData()))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember the layout, stop all work and wait for it."""
        self.settings.geometry = self.saveGeometry()
        self.settings.set_dock_state(self.saveState(LAYOUT_VERSION), LAYOUT_VERSION)
        self.settings.speed = self.workspace.player.speed
        self.workspace.close()
        super().closeEvent(event)


def _local_paths(mime: QMimeData) -> list[Path]:
    return [Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile()]
