"""The picture of a problem in the field: that of the form, or that of the run if the form has not changed since."""

from __future__ import annotations

from collections.abc import Callable

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.live.field.field_panel import FieldPanel
from workbench.live.field.pictures import scene
from workbench.live.field.preview import NotYetError, Preview, UnfitError
from workbench.live.solve.form import Form
from workbench.live.transport.worker import LatestOnly
from workbench.problems import Problem
from workbench.run import Configuration, Run
from workbench.run.choices.conflicts import Conflict, conflicts


class ProblemPicture:
    """Draws in a thread of its own, the latest request only; `painter` is that thread.

    complain: called with a sentence for a problem that cannot be drawn, and with "" for the next one. A problem that
    drawing shows to be impossible to run is refused by the form. followed: the run that `follow` was called with last.
    """

    def __init__(self, form: Form, panel: FieldPanel, complain: Callable[[str], object]) -> None:
        self._form, self._panel, self._complain = form, panel, complain
        self.painter = LatestOnly("workbench-picture")
        self.followed: Run | None = None
        self.edited = False
        """Set while the form has changed since the last run was started; its problem is then the one to draw."""
        self._preview = Preview()
        form.operator_of = self._preview.operator_shown
        self._shown: tuple[Problem, Deflation] | None = None
        self._whole = False

    def close(self) -> None:
        """Draw no more."""
        self.painter.close()
        self.followed = None

    def form_changed(self) -> None:
        """Draw the problem of the form."""
        self.edited = True
        self._complain("")
        self.painter.ask(self._show_preview)

    def follow(self, run: Run) -> None:
        """Draw the problem of a run, unless the form has changed since it was started."""
        if run is not self.followed:
            self.followed = run
            if not self.edited:
                # Under a key of its own, so that it drops no preview.
                self.painter.ask(lambda: self._show_run(run), "run")

    def is_of(self, configuration: Configuration) -> bool:
        """True if the problem and the deflation of a configuration are drawn."""
        return self._shown == (configuration.problem, configuration.deflation)

    def _show_preview(self) -> None:
        try:
            chosen = self._form.configuration()
        except InputError:
            return
        self._shown, found = None, ()
        try:
            drawn = self._preview.scene(chosen)
            self._panel.show(drawn)
            self._shown = chosen.problem, chosen.deflation
            # A file may have changed by the time it is run.
            self._whole = self._preview.is_final and not drawn.is_matrix
        except NotYetError as reason:
            self._panel.field.say(chosen.problem.label, str(reason))
        except (InputError, MemoryError) as error:
            if isinstance(error, UnfitError) and not error.changes:
                found = (Conflict(str(error), {}, error.kind),)
            # An error of earlier values of the form is no longer of interest.
            elif not (isinstance(error, InputError) and error.changes) and self._form.describes(chosen):
                self._complain(str(error) or "there is not enough memory to draw this problem")
            self._panel.field.say(chosen.problem.label, "")
        self._form.refuse(chosen, found or self._conflicts(chosen))
        self._panel.publisher.wake()

    def _conflicts(self, chosen: Configuration) -> list[Conflict]:
        """The conflicts of the form's configuration, with what the picture shows of A."""
        try:
            return conflicts(chosen, self._preview.operator)
        except MemoryError:
            return conflicts(chosen)

    def _show_run(self, run: Run) -> None:
        chosen = run.configuration
        title = chosen.problem.label
        # The picture is there already, and the run needs the processors more than another copy of it.
        if self._whole and self.is_of(chosen):
            return
        self._shown, self._whole = None, False
        try:
            self._panel.show(scene(title, run.setup.system).with_labels(run.setup.labels), own=True)
            self._shown = chosen.problem, chosen.deflation
        except InputError as error:
            self._panel.field.say(title, str(error))
