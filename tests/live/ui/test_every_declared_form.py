"""The contract that every declared form keeps: marks, undo, labels, and messages that nobody may send."""

import pytest

from workbench.errors import InputError
from workbench.extensions.flow.page.flow_form import SequenceForm
from workbench.live.builders.matrix_parts import CONTROLS as PARTS
from workbench.live.builders.matrix_parts import PartsState
from workbench.live.builders.poisson_form import PoissonForm
from workbench.live.compare.race_form import Look, LookForm
from workbench.live.compare.sweep import WORKERS, Workers
from workbench.live.compare.sweep_choices import ChoiceRow, Varied
from workbench.live.compare.sweep_plot import PlotForm
from workbench.live.compare.sweep_text import Runs
from workbench.live.solve.form import Form, method_form
from workbench.live.ui.declared_form import DeclaredForm
from workbench.live.ui.figure_dialog import FigureChoices, FigureForm
from workbench.live.ui.save_bar import CONTROLS, FigureFile
from workbench.problems.poisson_formulas import PoissonFormulas3D
from workbench.run import configure

KINDS = ("bool", "choice", "float", "formula", "int", "press", "segments", "sides", "str", "words")
CHOSEN = configure("two-layer", n=16, preconditioner="neumann:2", deflation="stripes")


def row(changed):
    none = lambda *_: {}  # noqa: E731
    return ChoiceRow(Varied("n", "8, 16"), ("n", "solver"), CHOSEN.problem, lambda: changed(None), none, none)


def plot(changed):
    made = PlotForm(changed)
    made.follow(Runs([], {"n": [8, 16], "solver": ["cg", "sd"], "seed": [0, 1]}, "iterations", "iterations"))
    return made


FORMS = {
    "run": lambda changed: Form(CHOSEN, changed=lambda: changed(None)),
    "method": lambda changed: method_form(CHOSEN, lambda: CHOSEN, lambda: changed(None)),
    "flow": lambda changed: SequenceForm(configure("rising-bubbles", n=32), lambda: changed(None)),
    "race": lambda changed: LookForm(Look(), changed),
    "row of a sweep": row,
    "plot of a sweep": plot,
    "workers": lambda changed: DeclaredForm(Workers(), WORKERS, changed=changed),
    "files": lambda changed: DeclaredForm(FigureFile(), CONTROLS, changed=changed),
    "poisson": lambda changed: PoissonForm(PoissonFormulas3D(n=8), changed, lambda _: None),
    "parts": lambda changed: DeclaredForm(PartsState(), PARTS, changed=changed),
    "figures": lambda _changed: FigureForm(FigureChoices(), ("1: CG", "2: SD"), ("provenance",)),
}


@pytest.fixture
def heard():
    return []


@pytest.fixture(params=FORMS)
def form(request, heard):
    made = FORMS[request.param](heard.append)
    heard.clear()
    return made


def another(field, schema):
    """Another value of a field, as the page sends it; None where its kind has no other."""
    offered = list(field.options or [value for value, _ in schema.get("choices", ())])
    if offered:
        return next((value for value in offered if str(value) != str(field.value)), None)
    if field.declared.kind is bool:
        return not field.value
    if field.declared.kind in (int, float) and not field.declared.empty:
        return str(field.declared.kind(float(field.value) * 2 or 1))
    return None


def schema_of(form, name):
    kind, _, parameter = name.partition(".")
    schema = form.box.schema
    if not parameter:
        return schema["settings"].get(name, {})
    of_block = schema["blocks"][kind][str(form.blocks[kind].choice.value)]["parameters"]
    return next(each for each in of_block if each["name"] == parameter)


def test_each_change_is_undone_and_made_again(form):
    for name in list(form.fields()):
        field, first = form.fields()[name], form.present
        value = another(field, schema_of(form, name))
        if value is None or field.disabled:
            continue
        form.set(name, value)
        changed = form.present
        if form.box.state["wrong"] or changed == first:
            form.load(first)
            continue
        assert form.can_undo, name
        form.undo()
        assert (form.present, form.state) == (first, first), name
        form.redo()
        assert form.present == changed, name
        form.undo()


def test_a_number_that_cannot_be_read_is_marked_at_its_field_and_undone(form, heard):
    for name, field in form.fields().items():
        if field.declared.kind not in (int, float) or field.disabled or name in form.hidden:
            continue
        before = form.present
        form.set(name, "many")
        assert list(form.box.state["wrong"]) == [name]
        assert "many" in form.box.state["wrong"][name]
        assert form.present == before
        with pytest.raises(InputError):
            _ = form.state
        form.undo()
        assert (form.present, form.box.state["wrong"]) == (before, {})


def test_what_the_page_cannot_send_is_ignored_and_what_is_shown_already_is_no_change(form, heard):
    before, could = form.present, form.can_undo
    for message in (
        {},
        {"kind": "set", "field": "nothing", "value": 1},
        {"kind": "rm", "field": "solver"},
        *({"kind": "set", "field": name, "value": "<img>"} for name in (*form.blocks, "name", "down")),
        *({"kind": "set", "field": name, "value": field.shown} for name, field in form.fields().items()),
    ):
        form.receive(message)
    form.load(before)
    form.renew()
    assert (form.present, form.can_undo, heard) == (before, could, [])


def test_each_control_has_words_and_nothing_is_wrong_at_first(form):
    assert form.box.state["wrong"] == {}
    assert form.box.schema["about"]
    for name in form.settings:
        drawn = schema_of(form, name)
        assert form.box.state["labels"][name], name
        assert drawn["kind"] in KINDS
