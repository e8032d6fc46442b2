"""The timeline: transport, a scrubber over the whole training, speed, and the progress of long work."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Slot
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from bpe_viz.gui.activity_row import MILLISECONDS_UNTIL_SHOWN, ActivityRow
from bpe_viz.gui.go_to_popup import GoToPopup
from bpe_viz.gui.look import Look
from bpe_viz.gui.panel import Panel, PanelSpec
from bpe_viz.gui.scrubber import Scrubber
from bpe_viz.gui.speeds import SPEEDS, speed_text
from bpe_viz.gui.training import Activity
from bpe_viz.gui.transport import TransportButton
from bpe_viz.gui.workspace import Workspace

TITLE = "Timeline"
HEIGHT, SLIM_ROW = 76, 28
RIGHT_COLUMN = 152
COUNT_SCALE = 1.15


class TimelinePanel(Panel):
    """Moves the cursor; its height never changes, so that nothing jumps when training starts."""

    has_heading = False

    def __init__(self, workspace: Workspace, look: Look) -> None:
        super().__init__(workspace, look, TITLE)
        self.first = TransportButton(look, "first")
        self.back = TransportButton(look, "back")
        self.play = TransportButton(look, "play", is_primary=True)
        self.on = TransportButton(look, "on")
        self.last = TransportButton(look, "last")
        self.scrubber = Scrubber(workspace, look)
        self.activity = ActivityRow(look)
        self.stopped = _StoppedRow(look)
        self.count = QLabel()
        self.speed = self._make_speed()
        self.go_to = QToolButton()
        self._popup: GoToPopup | None = None
        # Between opening and training, and between two trainings, there is a moment of neither.
        self._stopped_timer = QTimer(self)
        self._stopped_timer.setSingleShot(True)
        self._stopped_timer.setInterval(MILLISECONDS_UNTIL_SHOWN)
        self._stopped_timer.timeout.connect(self._show_stopped)
        self._build()
        self._connect()
        self._fit_look()
        self.follow()

    # --- what is shown ---

    @property
    def text(self) -> str:
        """Where the cursor is, as it is said on the right: 64 of 3,000."""
        return f"{self.workspace.position:,} of {self.workspace.last_position:,}"

    @Slot()
    def ask_position(self) -> None:
        """Open a small field that takes the number of a merge to go to."""
        self._popup = GoToPopup(self.workspace, self.look, self)
        self._popup.open_above(self.go_to)

    @property
    def popup(self) -> GoToPopup | None:
        """The field that ask_position opened last."""
        return self._popup

    def activate(self) -> None:
        """Ask where to go."""
        self.ask_position()

    def sizeHint(self) -> QSize:
        """Ask for the same height always."""
        return QSize(super().sizeHint().width(), self.look.px(HEIGHT))

    # --- building ---

    def _build(self) -> None:
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        body = QWidget()
        self._row = QHBoxLayout(body)
        for button in self._transport():
            self._row.addWidget(button)
        middle = QVBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.scrubber, 1)
        middle.addWidget(self.activity)
        middle.addWidget(self.stopped)
        self._row.addLayout(middle, 1)
        self.count.setTextFormat(Qt.TextFormat.RichText)  # numbers only: nothing of the corpus gets here
        self.go_to.setText("Go to")
        self.go_to.setProperty("role", "flat")
        self.go_to.setToolTip("Go to a merge by its number  (G)")
        controls = QHBoxLayout()
        controls.setSpacing(0)
        controls.addWidget(self.speed)
        controls.addWidget(self.go_to)
        controls.addStretch(1)
        self._right = QVBoxLayout()
        self._right.addStretch(1)
        self._right.addWidget(self.count)
        self._right.addLayout(controls)
        self._right.addStretch(1)
        self._row.addLayout(self._right)
        self.set_body(body)
        self.setFocusProxy(self.scrubber)

    def _transport(self) -> tuple[TransportButton, ...]:
        return self.first, self.back, self.play, self.on, self.last

    def _make_speed(self) -> QToolButton:
        button, menu = QToolButton(), QMenu(self)
        choices = QActionGroup(menu)
        for speed in SPEEDS:
            choice = menu.addAction(speed_text(speed))
            choice.setCheckable(True)
            choice.setData(speed)
            choice.triggered.connect(lambda _=False, speed=speed: self.workspace.player.set_speed(speed))
            choices.addAction(choice)
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setProperty("role", "flat")
        button.setToolTip("How fast merges are played  (+ and −)")
        return button

    def _connect(self) -> None:
        workspace = self.workspace
        self.first.clicked.connect(lambda: self._jump(0))
        self.back.clicked.connect(lambda: workspace.step(-1))
        self.play.clicked.connect(lambda: workspace.player.toggle())
        self.on.clicked.connect(lambda: workspace.step(1))
        self.last.clicked.connect(lambda: self._jump(workspace.last_position))
        self.go_to.clicked.connect(self.ask_position)
        self.activity.stop_wanted.connect(workspace.stop_training)
        self.stopped.train_on.clicked.connect(self._train_on)
        for signal in (
            workspace.frame_changed,
            workspace.frontier_changed,
            workspace.timeline_changed,
            workspace.player.playing_changed,
        ):
            signal.connect(self.follow)
        workspace.activity_changed.connect(self.show_activity)
        workspace.player.speed_changed.connect(self._show_speed)
        self._show_speed(workspace.player.speed)

    # --- changes from outside ---

    @Slot()
    def follow(self, _: object = None) -> None:
        """Show where the cursor is, and which way it can go."""
        workspace, position, last = self.workspace, self.workspace.position, self.workspace.last_position
        ink, dim = self.look.colour("ink").name(), self.look.colour("dim").name()
        self.count.setText(
            f'<span style="color:{ink}; font-weight:600">{position:,}</span>'
            f'<span style="color:{dim}"> of {last:,}</span>'
        )
        self.count.setAccessibleName(f"{self.text} merges")
        nothing = "Nothing is open yet" if workspace.merges is None else None
        if nothing is None and last == 0:
            nothing = self._why_at_end()
        at_start = nothing or ("This is the start: no merge has been made" if position == 0 else None)
        at_end = nothing or (self._why_at_end() if position >= last else None)
        self.first.explain("First position", "Home", at_start)
        self.back.explain("One merge back", "Left", at_start)
        self.on.explain("Next merge", "Right", at_end)
        self.last.explain("Last position", "End", at_end)
        self.play.set_sign("pause" if workspace.player.is_playing else "play")
        playing = "Pause" if workspace.player.is_playing else "Play from the start" if at_end else "Play"
        self.play.explain(playing, "Space", nothing or (None if last else at_end))
        self.go_to.setEnabled(last > 0)
        self._follow_stop()

    @Slot(object)
    def show_activity(self, activity: Activity | None) -> None:
        """Show how far long work is, in room that the scrubber gives."""
        self.activity.show_activity(activity)
        self._follow_stop()

    def _why_at_end(self) -> str:
        frame, shown = self.workspace.frame, self.workspace.shown
        why = None if frame is None or shown is None else shown.why_no_next(frame)
        return why or "This is the end."

    @property
    def _is_stopped(self) -> bool:
        workspace = self.workspace
        is_short = workspace.merges is not None and workspace.frontier < workspace.last_position
        return is_short and not workspace.is_training

    def _follow_stop(self) -> None:
        if not self._is_stopped:
            self._stopped_timer.stop()
            self.stopped.hide()
        elif self.stopped.isHidden() and not self._stopped_timer.isActive():
            self._stopped_timer.start()

    @Slot()
    def _show_stopped(self) -> None:
        self.stopped.say(self.workspace.frontier, self.workspace.last_position)
        self.stopped.setVisible(self._is_stopped)

    @Slot()
    def _train_on(self) -> None:
        self.stopped.hide()
        self.workspace.train_ahead()

    @Slot(float)
    def _show_speed(self, speed: float) -> None:
        self.speed.setText(speed_text(speed))
        self.speed.setAccessibleName(f"Speed: {speed_text(speed)}")
        for choice in self.speed.menu().actions():
            choice.setChecked(choice.data() == speed)

    def _jump(self, position: int) -> None:
        self.workspace.jump(position)
        self.follow()

    @Slot()
    def _fit_look(self) -> None:
        super()._fit_look()
        if not hasattr(self, "_row"):
            return  # called by the base class before there is anything to fit
        look = self.look
        self.setMaximumHeight(look.px(HEIGHT))
        self.updateGeometry()
        self._row.setContentsMargins(look.px(12), look.px(6), look.px(12), look.px(6))
        self._row.setSpacing(look.px(4))
        self._right.setContentsMargins(look.px(8), 0, 0, 0)
        self._right.setSpacing(0)
        # In line with the text of the buttons below; the program's style sheet would win over setFont.
        points = look.ui_font(COUNT_SCALE).pointSizeF()
        self.count.setStyleSheet(f"QLabel {{ padding-left: {look.px(6) + 1}px; font-size: {points:.2f}pt; }}")
        self.count.setMinimumWidth(look.px(RIGHT_COLUMN))
        for row in (self.activity, self.stopped):
            row.setFixedHeight(look.px(SLIM_ROW))
        self.follow()


class _StoppedRow(QWidget):
    """Says that training was stopped before its target, and offers to go on."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._text = QLabel()
        self._text.setProperty("role", "dim")
        self.train_on = QPushButton("Train on")
        row = QHBoxLayout(self)
        row.setContentsMargins(look.px(6), 0, look.px(6), 0)
        row.setSpacing(look.px(12))
        row.addWidget(self._text)
        row.addWidget(self.train_on)
        row.addStretch(1)
        self.hide()

    def say(self, frontier: int, target: int) -> None:
        """Say how far training got."""
        self._text.setText(f"Training stopped at merge {frontier:,} of {target:,}.")
        self.train_on.setToolTip(f"Train the other {max(0, target - frontier):,} merges")


PANEL = PanelSpec("timeline", TITLE, TimelinePanel, "bottom", 0, 0)
