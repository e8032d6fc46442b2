"""The bar on top: what is trained on, and how. Changing an option trains again."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import QInputDialog, QPushButton, QSizePolicy, QWidget

from bpe_viz.engine.corpus import Corpus
from bpe_viz.engine.pretokenize import PRETOKENIZERS, pretokenizer_for
from bpe_viz.engine.tie_rules import TIE_RULES
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import Options
from bpe_viz.gui.choice_button import ChoiceButton
from bpe_viz.gui.flow_layout import FlowLayout
from bpe_viz.gui.look import Look
from bpe_viz.gui.option_titles import BASES, MARKERS, cutting_of, pretokenizer_title
from bpe_viz.gui.options_dialog import OptionsDialog
from bpe_viz.gui.workspace import Workspace


class CorpusBar(QWidget):
    """Corpus, pretokenizer, base, end of word, tie rule, and the rest under More."""

    wanted = Signal(object)
    """Options: the user chose others."""

    def __init__(self, workspace: Workspace, look: Look) -> None:
        super().__init__()
        self._workspace = workspace
        self._look = look
        self.brand = ChoiceButton(look, "")
        self.brand.show_value("bpe-viz")
        self.brand.setToolTip("All actions")
        self.tokenizer = ChoiceButton(look, "Tokenizer")
        self.tokenizer.hide()
        self.corpus = ChoiceButton(look, "Corpus")
        self.pretokenizer = ChoiceButton(look, "Pretokenizer")
        self.base = ChoiceButton(look, "Base")
        self.end_of_word = ChoiceButton(look, "End of word")
        self.rule = ChoiceButton(look, "Tie rule")
        self.more = QPushButton("More…")
        self.more.setToolTip("Target, least count, weights, special tokens, unknown token, normalization, documents")
        self.more.clicked.connect(self.ask_more)
        self._row = FlowLayout(self)
        for button in self._buttons():
            self._row.addWidget(button)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._fill_menus()
        workspace.corpus_changed.connect(self.show_corpus)
        look.changed.connect(self._fit_look)
        self._fit_look()

    def _buttons(self) -> tuple[QWidget, ...]:
        choices = (self.tokenizer, self.corpus, self.pretokenizer, *self._of_training())
        return (self.brand, *choices)

    def _of_training(self) -> tuple[QWidget, ...]:
        """Return what says how a corpus is trained on, and nothing of a tokenizer that was opened."""
        return (self.base, self.end_of_word, self.rule, self.more)

    def _fill_menus(self) -> None:
        titles = {name: one.title for name, one in PRETOKENIZERS.items()}
        self._pretokenizers = self._radio_menu(self.pretokenizer, titles, "pretokenizer")
        for action in self._pretokenizers.values():
            action.setToolTip(PRETOKENIZERS[str(action.data())].description)
        self.pretokenizer.menu.setToolTipsVisible(True)
        self.pretokenizer.menu.addSeparator()
        self.pretokenizer.menu.addAction("Own pattern…").triggered.connect(self.ask_pattern)
        self._bases = self._radio_menu(self.base, BASES, "base")
        self._markers = self._radio_menu(self.end_of_word, MARKERS, "end_of_word")
        rules = {name: f"{name}: {rule.winner} wins" for name, rule in TIE_RULES.items()}
        self._rules = self._radio_menu(self.rule, rules, "rule")
        for action in self._rules.values():
            action.setToolTip(f"Decides as {TIE_RULES[str(action.data())].same_as}.")
        self.rule.menu.setToolTipsVisible(True)

    def _radio_menu(self, button: ChoiceButton, titles: Mapping[str, str], field: str) -> dict[str, QAction]:
        group = QActionGroup(self)
        actions = {}
        for name, title in titles.items():
            action = button.menu.addAction(title.replace("&", "&&"))
            action.setCheckable(True)
            action.setData(name)
            group.addAction(action)
            action.triggered.connect(lambda _=False, name=name: self._choose(field, name))
            actions[name] = action
        return actions

    def _choose(self, field: str, value: str) -> None:
        options = self._workspace.wanted_options
        if field == "pretokenizer":
            self.wanted.emit(options.with_counting(pretokenizer=value, pattern=None))
        else:
            self.wanted.emit(options.with_training(**{field: value}))

    @Slot()
    def ask_pattern(self) -> None:
        """Ask for a pattern of the user's own, and train with it."""
        options = self._workspace.wanted_options
        now = options.counting.pattern or pretokenizer_for(options.counting).pattern or ""
        pattern, accepted = QInputDialog.getText(
            self.window(), "Own pattern", "A regular expression (syntax of the Python module regex);\n"
            "each match is one pre-token, the text between matches is dropped.", text=now
        )  # fmt: skip
        if accepted and pattern:
            self.wanted.emit(options.with_counting(pattern=pattern))

    @Slot()
    def ask_more(self) -> None:
        """Show all further options."""
        dialog = OptionsDialog(self._workspace.wanted_options, self.window())
        dialog.accepted.connect(lambda: self.wanted.emit(dialog.options()))
        dialog.open()

    @Slot(object)
    def show_corpus(self, corpus: Corpus | None) -> None:
        """Show what is trained on and how, or which tokenizer is open."""
        tokenizer = self._workspace.tokenizer
        self.tokenizer.setVisible(tokenizer is not None)
        for button in self._of_training():
            button.setVisible(tokenizer is None)
        if corpus is not None:
            self.corpus.show_value(corpus.name)
            self.corpus.setToolTip("\n".join(corpus.sources) or corpus.name)
        else:
            self.corpus.show_value("none", is_quiet=True)
            self.corpus.setToolTip("No text is open: the tokenizer's merges can be replayed on one")
        if tokenizer is not None:
            self._show_tokenizer(tokenizer)
        elif corpus is not None:
            self._show_options(corpus)
        self._fit_labels()

    def _show_tokenizer(self, tokenizer: Tokenizer) -> None:
        source = self._workspace.tokenizer_source
        self.tokenizer.show_value(tokenizer.name)
        self.tokenizer.setToolTip(source.written if source is not None else tokenizer.name)
        self.pretokenizer.setEnabled(False)
        label, meaning = cutting_of(tokenizer, None if source is None else source.given)
        self.pretokenizer.show_value(label, is_quiet=True)
        self.pretokenizer.setToolTip(meaning)

    def _show_options(self, corpus: Corpus) -> None:
        options = self._workspace.options
        self.pretokenizer.setEnabled(True)
        self._show_pretokenizer(corpus, options)
        self.base.show_value(options.training.base)
        self.end_of_word.show_value(MARKERS[options.training.end_of_word])
        self.rule.show_value(options.training.rule)
        self._bases[options.training.base].setChecked(True)
        self._markers[options.training.end_of_word].setChecked(True)
        self._rules[options.training.rule].setChecked(True)

    def _show_pretokenizer(self, corpus: Corpus, options: Options) -> None:
        if corpus.is_table:
            self.pretokenizer.show_value("of the table", is_quiet=True)
        else:
            self.pretokenizer.show_value(pretokenizer_title(options.counting))
        if options.counting.pattern is None:
            self._pretokenizers[options.counting.pretokenizer].setChecked(True)
        else:
            for action in self._pretokenizers.values():
                action.setChecked(False)
        self.pretokenizer.setToolTip(
            "The table's pre-tokens are taken as they are. "
            f"{pretokenizer_title(options.counting)} cuts the text that you encode."
            if corpus.is_table
            else options.counting.pattern or PRETOKENIZERS[options.counting.pretokenizer].description
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Find out anew whether the labels fit."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit_labels()

    def _fit_labels(self) -> None:
        """Leave the labels out where the bar would take more than two rows with them."""
        for is_left_out in (False, True):
            for button in self.findChildren(ChoiceButton):
                button.leave_out_label(is_left_out)
            if self._row.heightForWidth(self.width()) <= 2 * self.more.sizeHint().height() + 2 * self._row.spacing():
                break

    @Slot()
    def _fit_look(self) -> None:
        self._row.setSpacing(min(self._look.grid, 12))
        self._fit_labels()
