"""The form comes from the registry: every block of every kind can be shown, read back, and complained about."""

import dataclasses
import math
import threading

import pytest

from tests.waiting import LIMIT
from workbench import devices
from workbench.errors import InputError
from workbench.live.solve.form import EXAMPLES, Form
from workbench.live.ui.form_schema import bounds_in_words, parameter_schema
from workbench.registry import Parameter, registered
from workbench.registry.facts import parameter_label
from workbench.run import Stopping, configure
from workbench.words.names import typeset_words

KINDS = ("problem", "preconditioner", "deflation", "coarse", "variant", "solver")
BLOCKS = [(kind, name) for kind in KINDS for name in registered(kind)]


@pytest.fixture
def changes():
    return []


@pytest.fixture
def form(changes):
    return Form(configure("two-layer"), changed=lambda: changes.append(1))


def test_every_block_can_be_chosen_and_read_back_and_its_fields_tell_meaning_bounds_and_unit(form):
    for kind, name in BLOCKS:
        form.blocks[kind].choice.value = name
        cls = registered(kind)[name]
        assert form.blocks[kind].block() == cls.create()
        assert list(form.blocks[kind].fields) == [declared.name for declared in cls.parameters()]
        for declared in cls.parameters():
            drawn = parameter_schema(declared, name)
            assert drawn["label"] == parameter_label(name, declared.name)
            assert drawn["help"] == typeset_words(declared.help)
            assert drawn["help"].lower() in f"{drawn['label']} {drawn['about']}".lower()
            assert drawn["choices"] or bounds_in_words(declared) in drawn["about"]
            assert declared.unit in drawn["about"]


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"low": 8, "high": 46340}, "8 to 46\u202f340"),
        ({"low": 0.0, "high": 0.5, "unit": "side lengths"}, "0 to 0.5\u202fside lengths"),
        ({"low": 1e-9, "high": 1e9}, "10⁻⁹ to 10⁹"),
        ({"low": 1}, "at least 1"),
        ({"above": 0.0, "high": math.inf}, "above 0"),
        ({"unit": "bytes"}, "bytes"),
        ({}, ""),
    ],
)
def test_bounds_have_all_their_digits(bounds, words):
    assert bounds_in_words(Parameter("n", float, 1.0, "", **bounds)) == words


def test_the_default_form_is_the_configuration_it_was_given():
    given = configure(
        "bubbles-2d",
        n=32,
        preconditioner="neumann:3",
        deflation="blocks:4",
        coarse="inverse",
        variant="a-def2",
        rhs="ones-scaled",
        x0="zero",
        seed=7,
        memory_limit=123_456_789,
        stopping=Stopping(rtol=1e-8, norm="natural", maxiter=50),
    )
    assert Form(given).configuration() == given


def test_what_is_loaded_comes_back_to_the_last_digit_and_with_what_has_no_field(form):
    given = configure(
        "two-layer",
        density_ratio=3 / 1000,
        device="cuda:7",
        stopping=Stopping(rtol=1 / 3e7, atol=1e-30, max_seconds=9.5, stagnation=77, true_every=10),
    )
    form.load(given)
    assert form.configuration() == given


def test_numbers_are_shown_and_read_as_one_types_them(form):
    assert form.settings["rtol"].value == "1e-6"
    assert (form.configuration().stopping.maxiter, form.configuration().memory_limit) == (None, None)
    form.set("maxiter", "12")
    form.set("memory_limit", "100MB")
    assert (form.configuration().stopping.maxiter, form.configuration().memory_limit) == (12, 10**8)
    form.set("maxiter", "")
    assert form.configuration().stopping.maxiter is None


def test_what_a_sweep_varies_is_switched_off(form):
    form.vary(("n", "deflation", "rtol"))
    off = form.box.state["off"]
    assert {"problem.n", "deflation", "rtol"} <= set(off)
    # Another value of the deflation may need them.
    assert not {"coarse", "variant", "az", "problem", "maxiter"} & set(off)
    form.set("rtol", "1e-3")
    assert form.configuration().stopping.rtol == 1e-6
    form.vary(())
    assert {"coarse", "variant", "az"} <= set(form.box.state["off"])
    assert "rtol" not in form.box.state["off"]


def test_every_change_is_told_once(form, changes):
    form.set("problem.n", 65)
    form.set("rtol", "1e-3")
    assert len(changes) == 2
    form.set("preconditioner", "neumann")
    assert len(changes) == 3
    form.set("preconditioner.order", 3)
    assert len(changes) == 4


def test_a_path_may_begin_at_home(form, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    form.set("problem", "matrix-file")
    form.set("problem.path", "~/a.mtx")
    assert form.configuration().problem.to_dict()["parameters"]["path"] == str(tmp_path / "a.mtx")
    form.set("problem.path", "~nosuchuser/a.mtx")
    with pytest.raises(InputError, match="cannot be a path"):
        form.configuration()


def test_the_coarse_solver_is_grey_without_deflation(form):
    assert form.blocks["coarse"].choice.disabled
    assert form.blocks["variant"].choice.disabled
    form.set("deflation", "stripes")
    assert not form.blocks["coarse"].choice.disabled
    assert not form.blocks["variant"].choice.disabled


def test_the_devices_of_this_machine_can_be_chosen(monkeypatch):
    monkeypatch.setattr(devices, "names", lambda: ("cpu", "opencl"))
    form = Form(configure("two-layer", device="opencl:1"))
    assert form.settings["device"].options == ("cpu", "opencl", "opencl:1")
    assert form.configuration().device == "opencl:1"
    form.set("device", "opencl")
    assert form.configuration().device == "opencl"


def test_the_form_covers_all_of_a_configuration(form):
    covered = {*form.blocks, *form.settings, "stopping"}
    assert {fld.name for fld in dataclasses.fields(form.configuration())} <= covered


def marked(form):
    """The fields that the page marks, with the sentence below each."""
    return form.box.state["wrong"]


def test_a_field_with_a_wrong_value_is_marked_and_says_why(form):
    form.set("problem.n", 2)
    assert marked(form) == {"problem.n": "Cells per side must be between 4 and 46340, got 2"}
    assert form.wrong == "two-layer: n must be between 4 and 46340, got 2"
    form.set("problem.n", "many")
    assert marked(form) == {"problem.n": "Cells per side must be a whole number, got 'many'"}
    form.set("problem.n", "1 024")
    assert (marked(form), form.wrong, form.configuration().problem.n) == ({}, "", 1024)


def test_the_error_norm_is_marked_where_the_solution_is_not_known(form):
    form.set("norm", "error")
    assert "Norm error needs a known solution" in form.wrong
    assert (list(marked(form)), form.correction) == (["rhs"], "Use right-hand side b: b = A x*, x* = 1/√N")
    form.set("rhs", "ones-scaled")
    assert (form.wrong, marked(form)) == ("", {})


@pytest.mark.parametrize(
    ("name", "value", "sentence", "marked_as"),
    [
        ("memory_limit", "much", "a size is a number of bytes", "a size is a number of bytes"),
        ("rtol", "small", "rtol must be a number, got 'small'", "Tolerance ‖r‖/‖b‖ must be a number, got 'small'"),
        ("rtol", "-1", "rtol must be at least 0", "must be at least 0"),
        ("rtol", "0", "rtol and atol are both 0", "rtol and atol are both 0"),
        ("maxiter", "1.5", "maxiter must be a whole number", "must be a whole number"),
        ("maxiter", "-3", "maxiter must be at least 0", "Iteration limit must be at least 0, got -3"),
        ("seed", -1, "seed must be at least 0", "must be at least 0"),
    ],
)
def test_a_wrong_setting_is_told_in_a_sentence_and_marked(form, name, value, sentence, marked_as):
    before = form.settings[name].value
    form.set(name, value)
    with pytest.raises(InputError, match=sentence):
        form.configuration()
    assert list(marked(form)) == [name]
    assert marked_as in marked(form)[name]
    assert form.wrong
    form.set(name, before)
    assert (marked(form), form.wrong) == ({}, "")


@pytest.mark.parametrize(("deflation", "thing"), [("levelset", "phases"), ("stripes", "a grid"), ("planes", "a grid")])
def test_a_new_problem_takes_away_what_it_cannot_have_and_says_so(form, changes, deflation, thing):
    form.set("deflation", deflation)
    changes.clear()
    form.set("problem", "matrix-file")
    assert len(changes) == 1
    assert form.blocks["deflation"].choice.value == "none"
    assert form.notice == f"Deflation {deflation} needs {thing}, which matrix-file does not have; set to none."
    assert form.box.state["notes"] == {"deflation": form.notice}
    # Listed with the reason, and not to be chosen.
    form.ask("deflation")
    reasons = form.box.state["reasons"]["deflation"]
    assert {name for name, reason in reasons.items() if reason["off"]} == {"levelset", "stripes", "planes"}
    form.set("deflation", deflation)
    assert form.blocks["deflation"].choice.value == "none"
    assert "blocks" in form.blocks["deflation"].choice.options
    # With a problem that has both all are offered again, and choosing anything ends the sentence.
    form.set("problem", "bubbles-2d")
    assert form.notice == ""
    assert tuple(form.blocks["deflation"].choice.options) == tuple(registered("deflation"))
    form.set("deflation", deflation)
    assert form.box.state["notes"] == {}


def test_a_grid_without_phases_keeps_what_needs_the_grid_alone(form):
    form.set("deflation", "stripes")
    form.set("problem", "poisson5")
    assert form.blocks["deflation"].choice.value == "stripes"
    assert form.notice == ""


def test_choices_are_weighed_when_they_are_asked_about(form):
    form.load(configure("poisson5", n=32, preconditioner="neumann:2", deflation="blocks:4", coarse="multilevel"))
    for name in ("solver", "deflation", "precision", "norm"):
        form.ask(name)
    reasons = form.box.state["reasons"]
    # What no other choice corrects, and what needs others.
    assert reasons["solver"]["hybrid3"]["off"]
    assert "device CPU is the cores alone" in reasons["solver"]["hybrid3"]["words"]
    assert reasons["precision"]["mixed"]["off"]
    assert not reasons["norm"]["error"]["off"]
    assert "right-hand side" in reasons["norm"]["error"]["with"]
    assert "Blocks split at bubble boundaries needs phases" in reasons["deflation"]["levelset"]["words"]
    # A file needs its path, which may be written once it is chosen.
    assert not reasons["deflation"]["file"]["off"]
    assert "cg" not in reasons["solver"]
    form.set("rtol", "1e-8")
    assert form.box.state["reasons"] == {}


def test_several_right_hand_sides_are_a_family_and_a_number(form):
    assert "columns" in form.hidden
    form.set("solver", "block-cg")
    form.set("rhs", "rank4:")
    assert not form.hidden
    form.set("columns", "12")
    assert form.configuration().rhs == "rank4:12"
    form.set("columns", "0")
    assert list(form.box.state["wrong"]) == ["columns"]
    assert form.complaint == "How many right-hand sides must be between 1 and 999999, got 0"
    form.undo()
    assert form.configuration().rhs == "rank4:12"
    form.load(configure("two-layer", rhs="sources:5", solver="block-cg"))
    assert (form.settings["rhs"].value, form.settings["columns"].value) == ("sources:", 5)
    form.set("solver", "cg")
    assert form.correction == "Use block CG"
    form.set("rhs", "problem")
    assert (form.configuration().rhs, form.complaint) == ("problem", "")


def test_loading_what_cannot_be_run_replaces_it_once_all_is_loaded(form, changes):
    form.load(configure("bubbles-2d", deflation="levelset:4"))
    assert form.notice == ""
    changes.clear()
    form.load(configure("matrix-file:some.mtx", deflation="none"))
    assert (form.notice, len(changes)) == ("", 1)
    form.load(configure("bubbles-2d", deflation="levelset:4"))
    assert form.configuration().deflation.spec == "levelset:4"
    form.load(configure("matrix-file:some.mtx", deflation="levelset:4"))
    assert form.configuration().deflation.name == "none"
    assert "levelset needs phases" in form.notice


def test_the_density_ratio_goes_one_way_for_every_problem(form):
    assert form.box.state["values"]["problem.density_ratio"] == "0.001"
    form.load(configure("bubbles-2d"))
    assert form.configuration().problem.differing == {}
    assert form.box.state["values"]["problem.density_ratio"] == "0.001"
    form.set("problem.density_ratio", "0.002")
    assert form.configuration().problem == configure("bubbles-2d", density_ratio=0.002).problem
    form.set("problem.density_ratio", "0")
    assert marked(form)["problem.density_ratio"].startswith("Density ratio, inside/outside must be")
    form.receive({"kind": "default", "field": "problem.density_ratio"})
    assert (marked(form), form.box.state["values"]["problem.density_ratio"]) == ({}, "0.001")


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_worked_example_is_one_that_can_be_run(form, name):
    form.receive({"kind": "example", "field": name})
    assert form.wrong == ""
    assert form.notice == ""
    assert form.configuration() == EXAMPLES[name]()


def test_a_path_that_is_written_otherwise_is_no_step_to_undo(changes):
    form = Form(configure("matrix-file", path="~/a.mtx"), changed=lambda: changes.append(1))
    assert not form.can_undo
    form.set("rtol", "1e-8")
    form.undo()
    assert not form.can_undo
    assert form.box.state["canRedo"]


def test_a_configuration_that_cannot_be_shown_changes_nothing(form, changes):
    class Mine(type(form.configuration().solver)):
        name = "mine"

    before = form.configuration()
    with pytest.raises(InputError, match="mine is no solver that the form offers"):
        form.load(dataclasses.replace(configure("poisson-2d", n=16), solver=Mine()))
    assert (form.configuration(), form.can_undo, changes) == (before, False, [])


def test_no_half_of_a_configuration_becomes_a_step_when_it_is_loaded_while_one_types(form, monkeypatch):
    """A share link is loaded in a thread of its own."""
    before, wanted = form.configuration(), configure("poisson-2d", n=16)
    typing, half, on = threading.Event(), threading.Event(), threading.Event()
    turn, put = form.turn, form.settings["rtol"].put

    def while_typing(name):
        if not typing.is_set():
            typing.set()
            # Long enough for a load to get half way, if nothing holds it.
            half.wait(0.3)
        turn(name)

    def half_way(value):
        half.set()
        on.wait(0.3)
        put(value)

    monkeypatch.setattr(form, "turn", while_typing)
    monkeypatch.setattr(form.settings["rtol"], "put", half_way)
    hands = threading.Thread(target=form.set, args=("maxiter", "77"))
    hands.start()
    assert typing.wait(LIMIT)
    form.load(wanted)
    hands.join(LIMIT)
    typed = dataclasses.replace(before, stopping=before.stopping.changed({"maxiter": 77}))
    steps = [form.configuration()]
    while form.can_undo:
        form.undo()
        steps.append(form.configuration())
    assert steps == [wanted, typed, before]


def test_the_fields_of_a_block_are_sent_together_with_it(form):
    form.blocks["deflation"].note("something about the block before")
    sent = []
    form.box.observe(lambda change: sent.append(change["new"]), "state")
    form.set("deflation", "stripes")
    parameters = {f"deflation.{name}" for name in form.blocks["deflation"].fields}
    assert all(parameters <= set(state["values"]) for state in sent if state["values"]["deflation"] == "stripes")
