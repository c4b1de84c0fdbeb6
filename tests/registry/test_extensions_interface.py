"""What an extension of others adds is found by name; what is wrong with one is said, and takes nothing else along."""

from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import sys

import pytest

from tests.conftest import refusal
from tests.registry.foreign import declaration, richardson
from workbench import devices
from workbench.cli import main
from workbench.errors import InputError
from workbench.registry import declared_values, extensions, find, registered
from workbench.registry.extensions import Command, Extension, PageView, broken, owner
from workbench.registry.facts import choice_label, facts, parameter_label
from workbench.run import Run, configure, run_through
from workbench.settings import BLOCKS
from workbench.words.names import block_name

REQUIRED = ("name", "title", "package", "install")
FOUR = ("damped", "Damped sweeps", "cg_damped", "cg-damped")
ODD = (None, 3, 1.5, True, b"a:b", object(), "a b", "../x", [], [3], (None,), {3: 4}, {"a b": "c"}, {"a": {"b": 3}})


def test_kinds_are_those_of_a_configuration():
    assert set(declared_values.KINDS) == {"problem", *BLOCKS}


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Extension)])
def test_odd_values_of_any_field_are_refused_with_the_field_or_taken(field):
    for value in ODD:
        given = dict(zip(REQUIRED, FOUR, strict=True)) | {field: value}
        with contextlib.suppress(InputError):
            made = Extension(**given)
            # What is taken can be asked for anything without another error.
            assert list(made.claims()) == made.missing == []
            continue
        said = refusal(Extension, **given)
        assert said.startswith("extension ")
        assert field in said
        assert said.isprintable()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"devices": {"slow": "cg_damped.slow"}}, "devices must be a reference, as in package.module:name"),
        ({"doctor": "cg_damped:3"}, "doctor must be a reference"),
        ({"doctor": "cg_damped:a:b"}, "doctor must be a reference"),
        ({"bars": "cg_damped:bar"}, "bars must be a tuple, got 'cg_damped:bar'"),
        ({"needs": "numpy"}, "needs must be a tuple"),
        ({"blocks": {"preconditoner": {}}}, "a name in blocks must be a kind, one of problem, solver"),
        ({"blocks": {"solver": "cg_damped.block"}}, "blocks of kind solver must be a mapping by name"),
        (
            {"blocks": {"solver": {"a:b": "cg_damped.block"}}},
            "a name in blocks of kind solver must be a name of letters",
        ),
        ({"blocks": {"solver": {"damped": "cg_damped.block:Damped"}}}, "blocks of kind solver must be a module"),
        ({"commands": {"damping": "cg_damped.command:add"}}, "commands must be Command objects"),
        (
            {"commands": {"damping": Command("two\nlines", "cg_damped.command:add")}},
            "help of a command must be a text on",
        ),
        ({"views": (PageView("solve", "A", "a:b"), PageView("race", "A", "a:b"))}, "views have the name 'A' twice"),
        ({"static": "/etc"}, "static must be a path within the package"),
        ({"facts": "../../blocks.toml"}, "facts must be a path within the package"),
        ({"facts": "C:\\blocks.toml"}, "facts must be a path within the package"),
        ({"documents": {"Damping": "../a.md"}}, "documents: Damping must be a path within the package"),
        ({"install": "git+https://example.org/damped"}, "install must be the name of a distribution"),
    ],
)
def test_every_entry_has_a_form(more, sentence):
    given = dict(zip(REQUIRED, FOUR, strict=True))
    said = refusal(Extension, **(given | more))
    assert said.startswith("extension damped: ")
    assert sentence in said


def test_modules_that_are_missing():
    needs = ("numpy", "nowhere", "nowhere.at.all", "numpy.nowhere", "__main__")
    assert Extension(*FOUR, needs=needs).missing == ["nowhere", "nowhere.at.all", "numpy.nowhere"] + (
        ["__main__"] if sys.modules["__main__"].__spec__ is None else []
    )


TWICE = {
    "preconditioner": "blocks={'preconditioner': {'richardson': '{package}.block'}}",
    "device": "devices={'slow': '{package}.block:make'}",
    "engine": "engines={'slow': '{package}.block:make'}",
    "command": "commands={'slow': Command('a command', '{package}.block:add')}",
}


@pytest.mark.parametrize("what", TWICE)
def test_of_two_extensions_with_a_name_the_second_is_broken(installer, what):
    for name in ("second", "first"):
        installer.install(name, TWICE[what].replace("{package}", f"cg_{name}"), {"block.py": richardson()})
    assert "first" in extensions.extensions()
    assert "second" not in extensions.extensions()
    assert f"extension second is broken: it has the {what} " in broken()["second"]
    assert broken()["second"].endswith("as extension first has; uninstall one of them")
    if what == "preconditioner":
        assert owner(what, "richardson").name == "first"
        assert type(find(what, "richardson")).__module__ == "cg_first.block"


def test_of_two_extensions_of_one_name_the_second_is_broken(installer):
    installer.install("first")
    installer.install("other", declared=declaration("first"), entry="first = cg_other.extension:EXTENSION")
    assert extensions.extensions()["first"].package == "cg_first"
    assert "has the name of another extension, first" in broken()["first"]


BROKEN = {
    "raises": "raise RuntimeError('two\\nlines \\x1b[31m')",
    "ends the process": "raise SystemExit(3)",
    "is not there": "",
    "is no declaration": "EXTENSION = 'Extension'",
    "is of a later version": declaration("bad", "gadgets=()"),
    "has another name": declaration("good"),
    "is in our place": declaration("bad", package="workbench.extensions.cg_bad"),
    "has a wrong entry": declaration("bad", "doctor='nothing'"),
    "does not parse": "EXTENSION = (",
}


@pytest.mark.parametrize("declared", BROKEN.values(), ids=BROKEN)
def test_a_broken_declaration_takes_nothing_along(installer, declared, capsys):
    installer.install("bad", declared=declared or "pass")
    installer.preconditioner()
    said = broken()["bad"]
    assert said.startswith("extension bad is broken: ")
    assert said.isprintable()
    assert set(extensions.extensions()) == {*extensions.ours(), "richardson"}
    assert {"jacobi", "richardson"} <= set(registered("preconditioner"))
    assert main(["blocks"]) == 0
    printed = capsys.readouterr().out
    assert f"    {said}\n" in printed
    assert "richardson" in printed
    assert solve_with("jacobi").converged
    assert solve_with("richardson:0.25").converged


def solve_with(preconditioner):
    return run_through(Run(configure("poisson5", n=6, preconditioner=preconditioner)))


MODULES = {
    "raises": ("raise RuntimeError('no')", "its import failed by a RuntimeError: no"),
    "ends the process": ("raise SystemExit(3)", "its import failed by a SystemExit: 3"),
    "needs what is missing": (
        "import nowhere",
        "its import failed by a ModuleNotFoundError: No module named 'nowhere'",
    ),
    "does not parse": ("(", "its import failed by a SyntaxError"),
    "registers nothing": ("pass", "cg_bad.block registers no preconditioner bad, which is declared"),
    "registers another name": (richardson("worse"), "cg_bad.block registers no preconditioner bad, which is declared"),
    "registers a block of the core": (
        richardson("jacobi", "Jacobi") + richardson("bad"),
        "two blocks of kind preconditioner are named jacobi",
    ),
    "registers one of ours": (
        richardson("amgx", "AmgX") + richardson("bad"),
        "two blocks of kind preconditioner are named",
    ),
    "registers one of the others": (
        richardson() + richardson("bad"),
        "two blocks of kind preconditioner are named rich",
    ),
    "registers and then raises": (richardson("bad") + "\n1/0", "its import failed by a ZeroDivisionError"),
}


@pytest.mark.parametrize(("module", "reason"), MODULES.values(), ids=MODULES)
def test_a_broken_module_of_a_block_takes_nothing_along(installer, module, reason):
    installer.preconditioner("bad", module=module)
    installer.preconditioner()
    said = refusal(find, "preconditioner", "bad")
    assert said.startswith("extension bad is broken: cg_bad.block ")
    assert reason in said
    assert said.endswith("; install cg-bad anew")
    # As often as it is asked for, and in whatever order.
    assert refusal(find, "preconditioner", "bad") == said == f"{broken()['bad']}; install cg-bad anew"
    listed = registered("preconditioner")
    assert "bad" not in listed
    assert listed["jacobi"].__module__ == "workbench.preconditioners.jacobi"
    assert listed["richardson"].__module__ == "cg_richardson.block"
    assert solve_with("richardson:0.25").converged


def test_the_module_of_a_broken_block_is_imported_once(installer):
    count = "import sys\nsys.cg_count = getattr(sys, 'cg_count', 0) + 1\nraise ValueError"
    installer.preconditioner("bad", module=count)
    for _ in range(3):
        registered("preconditioner")
    assert sys.cg_count == 1
    del sys.cg_count


def test_a_module_or_a_name_that_is_not_there(installer):
    installer.install("bad", "devices={'slow': 'cg_bad.nothing:make'}, services={'a': 'cg_bad:nothing'}")
    made = extensions.extensions()["bad"]
    said = refusal(devices.device, "slow")
    assert "extension bad is broken: cg_bad.nothing cannot be imported" in said
    assert (
        refusal(made.resolved, "cg_bad:nothing")
        == "extension bad is broken: cg_bad has no nothing; install cg-bad anew"
    )
    assert refusal(extensions.service, "a") == "no extension offers a; install cg-workbench with its extensions"


def test_a_block_says_what_brings_it(installer):
    installer.preconditioner()
    made = find("preconditioner", "richardson:0.25")
    assert made.to_dict() == {
        "kind": "preconditioner",
        "name": "richardson",
        "parameters": {"omega": 0.25},
        "extension": "cg-richardson",
    }
    assert owner("preconditioner", "richardson").name == "richardson"
    assert owner("solver", "richardson") is owner("preconditioner", "jacobi") is None
    assert owner("preconditioner", "amgx").name == "amgx"
    for name in ("jacobi", "amgx", "petsc"):
        assert "extension" not in registered("preconditioner")[name]().to_dict()
    assert find("preconditioner", "jacobi + richardson:0.1").to_dict()["extension"] == "cg-richardson"


RELAXATION = "Relaxation ω"
"""The core's label of any parameter omega."""
GOOD_FACTS = """
[preconditioner.richardson]
label = "Richardson's number"
name = "Richardson {omega}"
group = "Diagonal"
formula = "M⁻¹ = ωI"

[parameter]
"richardson.omega" = "Omega, the number"

[choice.omega]
none = "No number"
"""


def test_facts_come_from_the_file_of_the_extension(installer):
    installer.preconditioner(facts=GOOD_FACTS)
    made = find("preconditioner", "richardson:0.25")
    known = facts(type(made))
    assert (known.label, known.group, known.formula) == ("Richardson's number", "Diagonal", "M⁻¹ = ωI")
    assert (known.cost, known.source) == ("nothing", "Richardson 1911")
    assert block_name(made) == "Richardson 0.25"
    assert parameter_label("richardson", "omega") == "Omega, the number"
    assert parameter_label("jacobi", "omega") == RELAXATION
    assert choice_label("omega", "none") == "No number"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "facts.toml cannot be read"),
        ("[preconditioner", "facts.toml is no TOML"),
        ("\udcff", "facts.toml cannot be read"),
        ("preconditioner = 3", "facts.toml has what is no table of texts"),
        ("[preconditioner]\nrichardson = 'a'", "facts.toml has what is no table of texts"),
        ("[preconditioner.richardson]\nlabel = 3", "facts.toml has what is no table of texts"),
        ("[parameter]\nrichardson.omega = 'nested'", "facts.toml has what is no table of texts"),
    ],
)
def test_without_readable_facts_a_block_has_its_title(installer, text, reason):
    installer.preconditioner(facts="-")
    path = installer.folder / "cg_richardson" / "facts.toml"
    path.unlink() if text is None else path.write_bytes(text.encode(errors="surrogateescape"))
    made = find("preconditioner", "richardson")
    assert (facts(type(made)).label, facts(type(made)).group) == ("a number", "User-defined")
    assert parameter_label("richardson", "omega") == RELAXATION
    assert block_name(made) == "a number"
    assert reason in broken()["richardson"]
    assert facts(type(find("preconditioner", "jacobi"))).label == "Jacobi (diagonal)"


def test_facts_may_be_incomplete_and_name_what_the_block_has_not(installer):
    installer.preconditioner(facts="[preconditioner.richardson]\nname = 'Richardson {omgea}'\ngroup = 'Diagonal'")
    made = find("preconditioner", "richardson")
    assert (facts(type(made)).group, block_name(made)) == ("Diagonal", "a number")


@pytest.mark.parametrize("name", ["order", "omega", "poisson5", "run", "sa"])
def test_facts_of_a_block_with_the_name_of_something_else(installer, name):
    """Of a parameter, a problem, the settings, a choice."""
    installer.preconditioner(name, facts=GOOD_FACTS.replace("richardson", name))
    assert facts(type(find("preconditioner", name))).label == "Richardson's number"


SLOW = """
from workbench.devices.cpu import Cpu
from workbench.errors import InputError

def make(which):
    if which == "none":
        raise InputError("there is no slow device none; take slow:1")
    if which == "lost":
        raise OSError("unplugged")
    made = Cpu()
    made.name, made.note = "slow", f"slow device {which or 0}"
    return made
"""


def test_a_device_by_name(installer):
    installer.install("slow", "devices={'slow': 'cg_slow.device:make'}", {"device.py": SLOW})
    assert devices.device("slow:7").note == "slow device 7"
    assert devices.device("slow:7") is devices.device("slow:7")
    found = run_through(Run(configure("poisson5", n=6, device="slow")))
    assert (found.converged, found.summary["device"]) == (True, "slow")
    assert refusal(devices.device, "slow:none") == "there is no slow device none; take slow:1"
    assert refusal(devices.device, "slow:lost") == ("device slow:lost: extension slow failed by a OSError: unplugged")
    assert "did you mean slow?" in refusal(devices.device, "sloww")
    for name in ("slow", "slow:7"):
        devices.made.pop(name, None)


COMMANDS = """
def add(verbs):
    made = verbs.add_parser("damping", help="100% damped")
    made.add_argument("--weight", type=float, default=0.5)
    made.set_defaults(command=lambda options: print(f"weight {options.weight}") or 0)

def other(verbs):
    verbs.add_parser("damped")

def fails(verbs):
    verbs.add_parser(3)/0
"""


def test_commands(installer, capsys):
    names = {"damping": "add", "nothing": "other", "fails": "fails", "solve": "add", "gone": "gone"}
    commands = ", ".join(f"'{name}': Command('100% of {name}', 'cg_some.command:{add}')" for name, add in names.items())
    installer.install("some", f"commands={{{commands}}}", {"command.py": COMMANDS})
    assert main(["--help"]) == 0
    assert "100% of damping" in capsys.readouterr().out
    assert main(["damping", "--weight", "0.25"]) == 0
    assert capsys.readouterr().out == "weight 0.25\n"
    for name, sentence in (
        ("nothing", "extension some is broken: cg_some.command:other adds no command nothing; install cg-some anew"),
        ("fails", "extension some is broken: calling cg_some.command:fails failed by a TypeError"),
        ("gone", "extension some is broken: cg_some.command has no gone; install cg-some anew"),
    ):
        assert main([name]) == 2
        assert sentence in capsys.readouterr().err
    assert main(["solve", "poisson5", "--n", "6"]) == 0


def test_a_plain_solve_reads_no_metadata():
    lines = (
        "from workbench.cli import main\n"
        "from workbench.registry import extensions\n"
        "assert main(['solve', 'two-layer', '--n', '8', '--preconditioner', 'neumann:2']) == 0\n"
        "assert not extensions.extensions.cache_info().currsize\n"
    )
    subprocess.run([sys.executable, "-c", lines], check=True, timeout=120, stdout=subprocess.DEVNULL)
