"""How Qt's own widgets look: flat, one thin line, and a focus ring in the colour of "next"."""

from __future__ import annotations

from string import Template

from PySide6.QtGui import QPalette

from bpe_viz.assets import resource
from bpe_viz.gui.look import MONO_FAMILIES, MONO_POINTS, UI_FAMILIES, UI_POINTS, Look
from bpe_viz.gui.theme import ROLES, Role

_BASE = """
QWidget { color: $ink; font-family: $ui_families; font-size: ${ui_points}pt; }
QWidget:disabled { color: $faint; }
QMainWindow, QDialog, QStatusBar { background: $background; }
QMainWindow::separator { background: $background; width: ${separator}px; height: ${separator}px; }
QMainWindow::separator:hover { background: $next_soft; }
QSplitter::handle { background: $background; }
QSplitter::handle:horizontal { width: ${grid}px; }
QSplitter::handle:vertical { height: ${grid}px; }
QSplitter::handle:hover { background: $next_soft; }
QStatusBar { color: $dim; }
QStatusBar::item { border: none; }
QLabel { background: transparent; }
QLabel[role="dim"] { color: $dim; }
QLabel[role="heading"] { font-weight: 600; }
QToolTip { color: $ink; background: $panel; border: 1px solid $line; padding: ${half}px; }
QDockWidget {
    font-weight: 600; titlebar-close-icon: url("$close"); titlebar-normal-icon: url("$detach");
}
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QDockWidget::close-button, QDockWidget::float-button { border: none; border-radius: 3px; padding: 1px; }
QDockWidget::close-button:hover, QDockWidget::float-button:hover { background: $hover; }
QDockWidget::title { background: $panel; border: 1px solid $line; padding: ${grid}px; text-align: left; }
"""

_BUTTONS = """
QPushButton, QToolButton {
    background: $panel; border: 1px solid $line; border-radius: ${radius}px;
    padding: ${button_y}px ${button_x}px;
}
QToolButton { padding: ${button_y}px ${half3}px; }
QPushButton:hover, QToolButton:hover { background: $hover; }
QPushButton:pressed, QToolButton:pressed { background: $next_soft; }
QPushButton:checked, QToolButton:checked { background: $next_soft; border-color: $next; color: $next; }
QPushButton:focus, QToolButton:focus { border: 1px solid $next; }
QPushButton[role="primary"], QToolButton[role="primary"], QPushButton:default {
    background: $next; border-color: $next; color: $next_ink; font-weight: 600;
}
QPushButton[role="primary"]:hover, QToolButton[role="primary"]:hover, QPushButton:default:hover {
    border-color: $ink;
}
QPushButton[role="primary"]:focus, QToolButton[role="primary"]:focus, QPushButton:default:focus {
    border: 2px solid $ink;
}
QPushButton:disabled, QToolButton:disabled {
    background: $background; border-color: $line; color: $faint;
}
QToolButton[role="flat"], QPushButton[role="flat"] { background: transparent; border-color: transparent; }
QToolButton[role="flat"]:hover, QPushButton[role="flat"]:hover { background: $hover; }
QToolButton[role="flat"]:checked, QPushButton[role="flat"]:checked {
    background: transparent; color: $next; font-weight: 600;
}
QToolButton[role="flat"]:focus, QPushButton[role="flat"]:focus { border-color: $next; }
QToolButton[popupMode="1"] { padding-right: ${grid2}px; }
QToolButton::menu-button { border: none; width: ${grid2}px; }
QToolButton::menu-arrow, QToolButton::menu-indicator {
    image: url("$chevron_down"); width: ${icon}px; height: ${icon}px;
}
QToolButton[popupMode="2"] { padding-right: ${arrow_room}px; }
QToolButton::menu-indicator {
    subcontrol-origin: padding; subcontrol-position: center right; right: ${half}px;
}
QCheckBox, QRadioButton { background: transparent; spacing: ${grid}px; padding: 1px; }
QCheckBox::indicator, QRadioButton::indicator {
    width: ${box}px; height: ${box}px; border: 1px solid $bar_line; background: $panel;
}
QCheckBox::indicator { border-radius: 3px; }
QRadioButton::indicator { border-radius: ${box_half}px; }
QCheckBox::indicator:hover, QRadioButton::indicator:hover { border-color: $next; }
QCheckBox::indicator:checked { background: $next; border-color: $next; image: url("$check"); }
QRadioButton::indicator:checked {
    border-color: $next;
    background: qradialgradient(
        cx: 0.5, cy: 0.5, radius: 0.5, fx: 0.5, fy: 0.5,
        stop: 0 $next, stop: 0.55 $next, stop: 0.65 $panel, stop: 1 $panel
    );
}
QCheckBox:focus, QRadioButton:focus { border: 1px solid $next; border-radius: 3px; padding: 0; }
"""

_FIELDS = """
QLineEdit, QComboBox, QAbstractSpinBox, QPlainTextEdit, QTextEdit {
    background: $panel; border: 1px solid $line; border-radius: ${radius}px;
    selection-background-color: $next; selection-color: $next_ink;
}
QLineEdit, QComboBox, QAbstractSpinBox { padding: ${button_y}px ${grid}px; }
QLineEdit:focus, QComboBox:focus, QAbstractSpinBox:focus, QPlainTextEdit:focus, QTextEdit:focus {
    border: 1px solid $next;
}
QPushButton, QToolButton, QLineEdit, QComboBox, QAbstractSpinBox { min-height: ${control}px; }
QToolButton[role="flat"] { min-height: 0; }
QAbstractSpinBox QLineEdit, QComboBox QLineEdit {
    background: transparent; border: none; padding: 0; min-height: 0;
}
QAbstractSpinBox QLineEdit { padding-left: ${half}px; }
QLineEdit, QPlainTextEdit, QTextEdit { placeholder-text-color: $dim; }
QLineEdit { lineedit-clear-button-icon: url("$close"); }
QLineEdit QToolButton { background: transparent; border: none; padding: 0; min-height: 0; }
QLineEdit:disabled, QComboBox:disabled, QAbstractSpinBox:disabled { background: $background; }
QLineEdit[role="error"] { border-color: $error; }
QLabel[role="error"] { color: $error; }
QPlainTextEdit, QTextEdit[role="symbols"] { font-family: $mono_families; font-size: ${mono_points}pt; }
QComboBox:hover { background: $hover; }
QComboBox::drop-down { border: none; width: ${grid3}px; }
QComboBox::down-arrow { image: url("$chevron_down"); width: ${icon}px; height: ${icon}px; }
QComboBox QAbstractItemView {
    background: $panel; border: 1px solid $line; padding: ${half}px; outline: none;
    selection-background-color: $selection; selection-color: $ink;
}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {
    border: none; background: transparent; width: ${grid2}px;
}
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover { background: $hover; }
QAbstractSpinBox::up-arrow { image: url("$chevron_up"); width: ${icon}px; height: ${icon}px; }
QAbstractSpinBox::down-arrow { image: url("$chevron_down"); width: ${icon}px; height: ${icon}px; }
QProgressBar {
    background: $line; border: none; border-radius: ${bar_half}px; height: ${half}px; color: transparent;
    max-height: ${half}px;
}
QProgressBar::chunk { background: $next; border-radius: ${bar_half}px; }
"""

_LISTS = """
QMenu { background: $panel; border: 1px solid $line; padding: ${half}px; }
QMenu::item { padding: ${menu_y}px ${grid3}px ${menu_y}px ${grid2}px; border-radius: 4px; }
QMenu::item:selected { background: $selection; }
QMenu::item:disabled { color: $faint; }
QMenu::separator { height: 1px; background: $line; margin: ${half}px 0; }
QMenu::indicator { width: ${icon}px; height: ${icon}px; left: ${half}px; }
QTableView, QListView, QTreeView {
    background: $panel; border: none; outline: none; gridline-color: $line;
    selection-background-color: $selection; selection-color: $ink;
}
QTableView:focus, QListView:focus, QTreeView:focus { border: 1px solid $next; }
QTableView::item, QListView::item, QTreeView::item { padding: 2px ${half}px; }
QTableView::item:hover, QListView::item:hover, QTreeView::item:hover { background: $hover; }
QTableView::item:selected, QListView::item:selected, QTreeView::item:selected {
    background: $selection; color: $ink;
}
QHeaderView { background: $panel; border: none; }
QHeaderView::section {
    background: $panel; color: $dim; border: none; border-bottom: 1px solid $line; font-weight: 400;
    padding: ${half}px ${grid}px;
}
QTabWidget::pane { border: none; }
QTabBar { background: transparent; }
QTabBar::tab {
    background: transparent; color: $dim; padding: ${half}px ${grid}px;
    border: 1px solid transparent; border-bottom: 2px solid transparent;
}
QTabBar::tab:hover { color: $ink; }
QTabBar::tab:selected { color: $next; border-bottom-color: $next; }
QTabBar::tab:focus { border-color: $next; border-radius: 3px; }
QScrollBar { background: transparent; border: none; margin: 0; }
QScrollBar:vertical { width: ${scroll}px; }
QScrollBar:horizontal { height: ${scroll}px; }
QScrollBar::handle { background: $bar; border-radius: ${scroll_radius}px; margin: 2px; }
QScrollBar::handle:vertical { min-height: ${grid4}px; }
QScrollBar::handle:horizontal { min-width: ${grid4}px; }
QScrollBar::handle:hover, QScrollBar::handle:pressed { background: $bar_line; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; }
"""

_TEMPLATE = Template(_BASE + _BUTTONS + _FIELDS + _LISTS)

_PALETTE: tuple[tuple[QPalette.ColorRole, Role], ...] = (
    (QPalette.ColorRole.Window, "background"),
    (QPalette.ColorRole.WindowText, "ink"),
    (QPalette.ColorRole.Base, "panel"),
    (QPalette.ColorRole.AlternateBase, "hover"),
    (QPalette.ColorRole.Text, "ink"),
    (QPalette.ColorRole.Button, "panel"),
    (QPalette.ColorRole.ButtonText, "ink"),
    (QPalette.ColorRole.BrightText, "error"),
    (QPalette.ColorRole.PlaceholderText, "dim"),
    (QPalette.ColorRole.Highlight, "next"),
    (QPalette.ColorRole.HighlightedText, "next_ink"),
    (QPalette.ColorRole.Accent, "next"),
    (QPalette.ColorRole.Link, "next"),
    (QPalette.ColorRole.LinkVisited, "next"),
    (QPalette.ColorRole.ToolTipBase, "panel"),
    (QPalette.ColorRole.ToolTipText, "ink"),
    (QPalette.ColorRole.Light, "panel"),
    (QPalette.ColorRole.Midlight, "line"),
    (QPalette.ColorRole.Mid, "line"),
    (QPalette.ColorRole.Dark, "bar_line"),
    (QPalette.ColorRole.Shadow, "bar_line"),
)

_DISABLED = (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText)


def style_sheet(look: Look) -> str:
    """Return the application's style sheet for the look's theme and zoom.

    Widgets choose a variant by the dynamic property "role": buttons "primary" or "flat", labels "dim"
    or "heading", line edits "error", text edits "symbols" (the fixed-width face).
    """
    check = "check-on-dark-theme.svg" if look.theme.is_dark else "check-on-light-theme.svg"
    return _TEMPLATE.substitute(
        {role: look.colour(role).name() for role in ROLES},
        **_lengths(look),
        ui_families=_quoted(UI_FAMILIES),
        mono_families=_quoted(MONO_FAMILIES),
        ui_points=f"{UI_POINTS * look.zoom:.2f}",
        mono_points=f"{MONO_POINTS * look.zoom:.2f}",
        check=_url("icons", check),
        close=_url("icons", "close.svg"),
        detach=_url("icons", "detach.svg"),
        chevron_down=_url("icons", "chevron-down.svg"),
        chevron_up=_url("icons", "chevron-up.svg"),
    )


def palette(look: Look) -> QPalette:
    """Return the palette for what the style sheet does not reach: placeholder text, links, plots."""
    colours = QPalette()
    for place, role in _PALETTE:
        colours.setColor(place, look.colour(role))
    for place in _DISABLED:
        colours.setColor(QPalette.ColorGroup.Disabled, place, look.colour("faint"))
    return colours


def _lengths(look: Look) -> dict[str, int]:
    """Return the pixel lengths of the template; all multiples of half a grid step but the finest."""
    return {
        "half": look.px(4),
        "half3": look.px(6),
        "grid": look.px(8),
        # Large type needs the room itself.
        "separator": min(look.grid, 12),
        "grid2": look.px(16),
        "grid3": look.px(24),
        "grid4": look.px(32),
        "radius": look.px(6),
        "button_x": look.px(12),
        "button_y": look.px(3),
        "control": look.px(20),
        "menu_y": look.px(5),
        "arrow_room": look.px(22),
        "icon": look.px(12),
        "box": look.px(14),
        "box_half": look.px(14) // 2 + 1,
        "bar_half": look.px(2),
        "scroll": look.px(10),
        "scroll_radius": look.px(3),
    }


def _quoted(families: tuple[str, ...]) -> str:
    return ", ".join(f'"{family}"' for family in families)


def _url(*parts: str) -> str:
    return resource(*parts).as_posix()
