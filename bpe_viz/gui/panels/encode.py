"""The encode panel: a text whose tokens are coloured as they are at the cursor, and ids turned back into text."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QAction, QActionGroup, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from bpe_viz.engine.id_decoding import Decoding
from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.types import Frame
from bpe_viz.gui.copy_as import COPY_FORMS
from bpe_viz.gui.decode_page import DecodePage
from bpe_viz.gui.exact_text_edit import MOST_CHARACTERS, too_long
from bpe_viz.gui.fidelity_badge import FidelityBadge
from bpe_viz.gui.glyphs import drawable_text
from bpe_viz.gui.look import Look
from bpe_viz.gui.panel import Panel, PanelSpec
from bpe_viz.gui.selection import Selection
from bpe_viz.gui.special_text_button import SpecialTextButton
from bpe_viz.gui.token_colours import COLOUR_TITLES, ColourBy, colour_tokens, made_last, scale_note
from bpe_viz.gui.token_curve import TokenCurve
from bpe_viz.gui.token_editor import TokenEditor
from bpe_viz.gui.token_note import describe_character
from bpe_viz.gui.token_spans import TokenSpans, Totals, token_spans, totals
from bpe_viz.gui.totals_label import BETWEEN, Figure, TotalsLabel
from bpe_viz.gui.workspace import Workspace

LEAST_WIDTH_WITH_CURVE, LEAST_HEIGHT_WITH_CURVE = 700, 96
_EDGES_OF_HEADING = 24
_NOTHING: NDArray[np.int64] = np.empty(0, dtype=np.int64)


class EncodePanel(Panel):
    """Shows workspace.encoder.text, encoded at the cursor's position."""

    def __init__(self, workspace: Workspace, look: Look) -> None:
        super().__init__(workspace, look, "Encode")
        self._colour_by: ColourBy = "place"
        self._figures: list[Figure] = []
        self.editor = TokenEditor(look)
        self.editor.setPlaceholderText("Type or paste a text to see its tokens")
        self.editor.setAccessibleName("Text to encode")
        self.editor.describe = describe_character
        self.editor.extend_menu = self._extend_menu
        self.curve = TokenCurve(look)
        self.decode_page = DecodePage(look)
        self._fill_heading()
        self._fill_body()
        self._connect()
        self._show_text(workspace.encoder.text)
        self._show_tokens()

    def _fill_heading(self) -> None:
        self.split_label = QLabel()
        self.split_label.setProperty("role", "dim")
        self.add_to_heading(self.split_label, after_stretch=False)
        self.badge = FidelityBadge(self.workspace.fidelity, self.look)
        self.add_to_heading(self.badge, after_stretch=False)
        self.totals_label = TotalsLabel(self.look)
        self.add_to_heading(self.totals_label)
        self.special_button = SpecialTextButton(self.workspace)
        self.add_to_heading(self.special_button)
        self.colour_button = QToolButton()
        self.colour_button.setProperty("role", "flat")
        self.colour_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.colour_button.setMenu(self._colour_menu())
        self.add_to_heading(self.colour_button)
        self.decode_button = QToolButton()
        self.decode_button.setProperty("role", "flat")
        self.decode_button.setText("Decode ids")
        self.decode_button.setToolTip("Turn token ids back into text")
        self.decode_button.setCheckable(True)
        self.add_to_heading(self.decode_button)
        self._heading_controls = (
            self.split_label, self.badge, self.totals_label, self.special_button, self.colour_button, self.decode_button
        )  # fmt: skip

    def _colour_menu(self) -> QMenu:
        menu = QMenu(self)
        group = QActionGroup(menu)
        for by, title in COLOUR_TITLES.items():
            action = menu.addAction(f"Colour by {title}")
            action.setCheckable(True)
            action.setData(by)
            action.setChecked(by == self._colour_by)
            group.addAction(action)
        group.triggered.connect(self._choose_colours)
        return menu

    def _fill_body(self) -> None:
        self.refusal = QLabel()
        self.refusal.setTextFormat(Qt.TextFormat.PlainText)
        self.refusal.setWordWrap(True)
        self.refusal.hide()
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.refusal)
        row = QHBoxLayout()
        column.addLayout(row, 1)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.editor, 1)
        row.addWidget(self.curve)
        page.setFocusProxy(self.editor)
        self.pages = QStackedWidget()
        self.pages.addWidget(page)
        self.pages.addWidget(self.decode_page)
        self.set_body(self.pages)
        self.setFocusProxy(self.editor)

    def _connect(self) -> None:
        workspace, editor = self.workspace, self.editor
        workspace.encoder.encoding_changed.connect(self._show_encoding)
        workspace.encoder.refused.connect(self._show_tokens)
        workspace.frame_changed.connect(self._show_frame)
        workspace.encoder.text_set.connect(self._show_text)
        workspace.selection_changed.connect(self._show_selection)
        workspace.encoder.decoded.connect(self._show_decoding)
        editor.text_edited.connect(self._edited)
        editor.refused.connect(workspace.failed)
        editor.hovered.connect(self._hover)
        editor.clicked.connect(self._select)
        self.curve.position_chosen.connect(workspace.jump)
        self.decode_button.toggled.connect(self.show_decode_page)
        self.decode_page.ids_given.connect(workspace.encoder.decode)
        self.decode_page.figures_changed.connect(self._show_figures)
        self.decode_page.text_wanted.connect(self._encode_decoded)
        self.look.changed.connect(self._show_tokens)
        self.badge.place_wanted.connect(self._go_to)
        self.workspace.fidelity.changed.connect(lambda _: self._fit_split_label())

    # --- what others may call ---

    def colour_by(self, by: ColourBy) -> None:
        """Colour tokens by place, id, rank, length or status."""
        self._colour_by = by
        self._show_tokens()

    @Slot(bool)
    def show_decode_page(self, shown: bool = True) -> None:
        """Show the page that decodes ids, or the text again."""
        self.decode_button.setChecked(shown)
        self.pages.setCurrentIndex(1 if shown else 0)
        self.colour_button.setVisible(not shown)
        self.special_button.allow(not shown)
        self.badge.allow(not shown)
        self._fit_split_label()
        self._show_figures()
        self.setFocusProxy(self.decode_page if shown else self.editor)
        self.setFocus()

    def copy_as(self, form: str) -> str:
        """Copy the selected tokens, or all, in one of COPY_FORMS or as "Text", and return what was copied."""
        start, end = self.editor.selection
        if start == end:
            start, end = 0, len(self.editor.text)
        spans = self.editor.spans
        if form == "Text":
            copied = self.editor.text[start:end]
        else:
            copied = COPY_FORMS[form](spans, spans.of_text(start, end).tolist()) if spans is not None else ""
        QGuiApplication.clipboard().setText(copied)
        return copied

    @property
    def spans(self) -> TokenSpans | None:
        """The tokens that are shown."""
        return self.editor.spans

    # --- showing ---

    @Slot(object)
    def _show_text(self, text: str) -> None:
        if len(text) <= MOST_CHARACTERS:
            self.editor.show_text(text)
        else:
            self.workspace.failed.emit(too_long(len(text)))
            self.workspace.encoder.set_text(self.editor.text, from_editor=True)

    @Slot(object)
    def _edited(self, text: str) -> None:
        self._show_tokens()
        self.workspace.encoder.set_text(text, from_editor=True)

    @Slot(object)
    def _show_encoding(self, encoded: EncodedText) -> None:
        self.curve.show_counts(encoded.counts(encoded.known))
        self._show_tokens()

    @Slot(object)
    def _show_frame(self, frame: Frame) -> None:
        self.curve.show_position(frame.position)
        self.badge.show_position(frame.position == self.workspace.last_position)
        self._show_tokens()

    @Slot()
    def _show_tokens(self) -> None:
        self._show_refusal()
        encoded, frame = self.workspace.encoder.encoded, self.workspace.frame
        if encoded is None or frame is None:
            self.editor.show_spans(None, _NOTHING, _NOTHING.astype(bool))
            if encoded is None:
                self.curve.clear()
            self._figures = []
            self._show_figures()
            self.split_label.setText("")
            return
        spans = token_spans(encoded, frame.position, self.editor.text)
        self.editor.show_spans(spans, colour_tokens(spans, self._colour_by), made_last(spans))
        self._show_selection()
        self.split_label.setText(_split_note(spans))
        self.colour_button.setText(f"by {COLOUR_TITLES[self._colour_by].split()[0]}")
        self.colour_button.setAccessibleName(f"Colour by {COLOUR_TITLES[self._colour_by]}")
        self.colour_button.setToolTip(scale_note(spans, self._colour_by))
        self._figures = _figures(totals(encoded, spans.tokens))
        self._show_figures()
        said = BETWEEN.join(figure.text for figure in self._figures)
        self.editor.setAccessibleDescription(f"{said}, {self.split_label.text()}")

    def _show_refusal(self) -> None:
        """Say why the text is not encoded, above it."""
        refusal = self.workspace.encoder.refusal
        self.refusal.setVisible(refusal is not None)
        self.refusal.setText("" if refusal is None else drawable_text(str(refusal), self.look.ui_metrics()))
        look = self.look
        ground, ink = look.colour("error_soft").name(), look.colour("error").name()
        self.refusal.setStyleSheet(
            f"QLabel {{ background: {ground}; color: {ink}; padding: {look.px(4)}px {look.px(12)}px; }}"
        )

    @Slot()
    def _show_figures(self) -> None:
        """Count what is in view: the text, or the ids."""
        is_decoding = self.decode_button.isChecked()
        self.totals_label.show_figures(self.decode_page.figures if is_decoding else self._figures)
        self._fit_split_label()

    @Slot()
    def _show_selection(self, _: object = None) -> None:
        spans = self.editor.spans
        if spans is not None:
            self.editor.outline(_pointed_at(spans, self.workspace.pointed_at))

    @Slot(object)
    def _hover(self, span: int | None) -> None:
        self.workspace.hover(self._selection_of(span))

    @Slot(object)
    def _select(self, span: int | None) -> None:
        self.workspace.select(self._selection_of(span))

    def _selection_of(self, span: int | None) -> Selection | None:
        spans = self.editor.spans
        if span is None or spans is None:
            return None
        symbol = int(_symbols(spans)[span])
        return Selection(token=symbol) if symbol >= 0 else None

    @Slot(object)
    def _show_decoding(self, decoding: Decoding) -> None:
        self.decode_page.show_decoding(decoding)

    @Slot(object)
    def _encode_decoded(self, text: str) -> None:
        self.workspace.encoder.set_text(text)
        self.show_decode_page(False)

    @Slot(object)
    def _go_to(self, place: int) -> None:
        """Show the tokens as they are at the end, and put the caret where one is to be looked at."""
        self.workspace.jump(self.workspace.last_position)
        self.editor.select(place, min(place + 1, len(self.editor.text)))
        self.editor.setFocus()

    @Slot(QAction)
    def _choose_colours(self, action: QAction) -> None:
        self.colour_by(action.data())

    def _extend_menu(self, menu: QMenu, point: QPoint) -> None:
        """Offer the forms to copy, and the note of the token: by keyboard, of the one behind the caret."""
        copy_menu = menu.addMenu("Copy as")
        copy_menu.setEnabled(bool(self.editor.text))
        for form in ("Text", *COPY_FORMS):
            copy_menu.addAction(form, partial(self.copy_as, form))
        about = menu.addAction("About this token", partial(self.editor.show_note, point))
        about.setEnabled(bool(self.editor.note_at(point)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Drop the curve where the text needs the room."""
        super().resizeEvent(event)
        is_wide = self.width() >= self.look.px(LEAST_WIDTH_WITH_CURVE)
        self.curve.setVisible(is_wide and self.height() >= self.look.px(LEAST_HEIGHT_WITH_CURVE))
        self._fit_split_label()

    def _fit_split_label(self) -> None:
        """Leave it out where something else would be cut: the sentence above says the same."""
        shown = [one for one in self._heading_controls if one is self.split_label or not one.isHidden()]
        needed = sum(one.sizeHint().width() + self.look.grid for one in shown) + self.look.px(_EDGES_OF_HEADING)
        title = self.look.ui_metrics(bold=True).horizontalAdvance("Encode")
        self.split_label.setVisible(needed + title <= self.width() and not self.decode_button.isChecked())


def _split_note(spans: TokenSpans) -> str:
    """Say which merges the text is split by."""
    tokenizer = spans.encoded.tokenizer
    if tokenizer.kind != "BPE":
        return f"not BPE: {tokenizer.kind}"
    if tokenizer.n_merges == 0:
        return "no merges to step"
    return f"as split after merge {spans.position:,}" if spans.position else "before any merge"


def _symbols(spans: TokenSpans) -> NDArray[np.int64]:
    """Return (spans,) int64: the symbol of each span, negative for gaps and special tokens."""
    tokens = spans.tokens
    n_base = len(spans.encoded.tokenizer.base)
    symbols = np.where(tokens.ranks >= 0, tokens.ranks + n_base, spans.encoded.symbols[tokens.first])
    return symbols[spans.index]


def _pointed_at(spans: TokenSpans, selection: Selection | None) -> NDArray[np.bool_]:
    """Return (spans,) bool: the tokens that are pointed at, or stand in a pair that is."""
    symbols = _symbols(spans)
    outlined = np.zeros(len(symbols), dtype=bool)
    if selection is None:
        return outlined
    if selection.token is not None:
        return np.equal(symbols, selection.token)
    if selection.pair is not None and len(symbols) > 1:
        met = (symbols[:-1] == selection.pair.left) & (symbols[1:] == selection.pair.right)
        met &= np.diff(spans.index) == 1
        outlined[:-1] |= met
        outlined[1:] |= met
    return outlined


def _figures(counted: Totals) -> list[Figure]:
    """Write the totals; a lone "s" is not worth a false plural."""
    figures = [
        Figure(_counted(counted.characters, "character"), 4),
        Figure(_counted(counted.bytes, "byte"), 5),
        Figure(_counted(counted.tokens, "token"), 0, bold=True),
    ]
    if counted.around:
        figures.append(Figure(f"{counted.around:,} around the text", 4))
    if counted.gaps:
        figures.append(Figure(_counted(counted.gaps, "unknown character"), 1))
    if counted.dropped:
        figures.append(Figure(f"{counted.dropped:,} dropped", 2))
    if of_text := counted.tokens - counted.around:
        figures.append(Figure(f"{counted.token_bytes / of_text:.2f} bytes per token", 3))
    return figures


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


PANEL = PanelSpec("encode", "Encode", EncodePanel, "bottom", 2, 1)
