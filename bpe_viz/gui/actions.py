"""One table of all actions: what each is called, which key runs it, what it does, when it can.

Menus, the key sheet, the command palette and the window's keys are made from this table and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QKeyCombination, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

GROUPS = ("File", "Tokenizer", "Go", "Edit", "View", "Help")


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action.

    id: stable; group: the menu it stands in
    keys: shortcuts in Qt's portable spelling, the first one is shown
    plain_keys: keys without Ctrl or Alt; they belong to the window only when no widget with the focus uses them
    is_enabled: asked when a menu opens and before the action runs
    is_checked: for actions that switch something; None for the others
    title_now: the title of an action that is called after what it would do; the key sheet shows `title`
    """

    id: str
    group: str
    title: str
    run: Callable[[], None]
    keys: tuple[str, ...] = ()
    plain_keys: tuple[str, ...] = ()
    is_enabled: Callable[[], bool] = lambda: True
    is_checked: Callable[[], bool] | None = None
    title_now: Callable[[], str] | None = None

    @property
    def shown_title(self) -> str:
        """The title as it is now."""
        return self.title if self.title_now is None else self.title_now()

    @property
    def shown_keys(self) -> str:
        """The keys as people read them on this system."""
        sequences = (QKeySequence(key) for key in (*self.plain_keys, *self.keys))
        return ", ".join(one.toString(QKeySequence.SequenceFormat.NativeText) for one in sequences)


class Actions(QObject):
    """The table, bound to one window."""

    def __init__(self, specs: Iterable[ActionSpec], window: QWidget) -> None:
        super().__init__(window)
        self.specs = tuple(specs)
        self._by_id = {spec.id: spec for spec in self.specs}
        self._by_plain_key: dict[int, ActionSpec] = {}
        self._qactions: dict[str, QAction] = {}
        for spec in self.specs:
            for key in spec.plain_keys:
                self._by_plain_key[_first_key(key)] = spec
            self._qactions[spec.id] = self._qaction(spec, window)

    def run(self, action_id: str) -> bool:
        """Run an action if it is enabled; tells whether it ran. Raises KeyError for an unknown id."""
        spec = self._by_id[action_id]
        if spec.is_enabled():
            spec.run()
            return True
        return False

    def handle_key(self, event: QKeyEvent) -> bool:
        """Run the action of a plain key that no widget with the focus has used; tells whether there is one."""
        pressed = event.keyCombination()
        without_keypad = QKeyCombination(
            pressed.keyboardModifiers() & ~Qt.KeyboardModifier.KeypadModifier, pressed.key()
        )
        spec = self._by_plain_key.get(without_keypad.toCombined())
        # "+" and "?" need Shift on many keyboards: what counts is the character.
        if spec is None and event.text() in ("+", "-", "?"):
            spec = self._by_plain_key.get(_first_key(event.text()))
        if spec is None:
            return False
        if spec.is_enabled():
            spec.run()
        return True

    def add_to_menu(self, menu: QMenu, group: str) -> None:
        """Fill a menu with the actions of a group; their state is asked each time it opens."""
        for spec in self.specs:
            if spec.group == group:
                menu.addAction(self._qactions[spec.id])
        menu.aboutToShow.connect(lambda: self.refresh(group))
        menu.aboutToHide.connect(lambda: self._wake(group))

    def refresh(self, group: str) -> None:
        """Ask again which actions of a group are enabled and checked."""
        for spec in self.specs:
            if spec.group == group:
                qaction = self._qactions[spec.id]
                qaction.setEnabled(spec.is_enabled())
                qaction.setText(_menu_text(spec))
                if spec.is_checked is not None:
                    qaction.setChecked(spec.is_checked())

    def _wake(self, group: str) -> None:
        """Enable what the menu showed as disabled: else its keys would stay dead until a menu opens again."""
        for spec in self.specs:
            if spec.group == group:
                self._qactions[spec.id].setEnabled(True)

    def _qaction(self, spec: ActionSpec, window: QWidget) -> QAction:
        qaction = QAction(_menu_text(spec), window)
        qaction.setShortcuts([QKeySequence(key) for key in spec.keys])
        qaction.setCheckable(spec.is_checked is not None)
        qaction.triggered.connect(lambda _=False, spec=spec: spec.run() if spec.is_enabled() else None)
        window.addAction(qaction)
        return qaction


def _menu_text(spec: ActionSpec) -> str:
    # A plain key stands in the menu's text only: as a shortcut it would be taken from lists and buttons.
    title = spec.shown_title.replace("&", "&&")
    if spec.plain_keys and not spec.keys:
        title += f"\t{QKeySequence(spec.plain_keys[0]).toString(QKeySequence.SequenceFormat.NativeText)}"
    return title


def _first_key(keys: str) -> int:
    """Return the key and its modifiers as one number."""
    first: QKeyCombination = QKeySequence(keys)[0]  # type: ignore[index]  # it can be indexed; its stubs do not say so
    return first.toCombined()
