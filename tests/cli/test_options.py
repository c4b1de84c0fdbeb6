"""Every option of every command, as the parsers have them: it changes what is run or printed, or is refused."""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import sys
from typing import Any

import numpy as np
import pytest

from workbench.cli import program
from workbench.errors import InputError
from workbench.extensions.flow import records
from workbench.records import Event, Trace, save_trace
from workbench.sequences.sequence import Sequence
from workbench.settings import BLOCKS, STOPPING

HANDED_ON = {
    "solve": (["solve", "poisson5"], ("workbench.run.Run",)),
    "flow": (["flow", "heat-steps"], ("workbench.sequences.sequence.Sequence",)),
    "sweep": (["sweep", "poisson5", "--n", "8"], ("workbench.run.sweep",)),
    "advise": (["advise", "poisson5"], ("workbench.advise.advise",)),
    "formats": (["formats", "poisson5"], ("workbench.extensions.formats.comparison.storage_of",)),
    "convert": (["convert", "poisson5", "a.mtx"], ("workbench.run.configure",)),
    "family": (
        ["family"],
        ("workbench.costs.solver_costs.solver_costs", "workbench.costs.block_costs.block_costs"),
    ),
    "reproduce": (
        ["reproduce", "two-level", "fig3"],
        ("workbench.extensions.papers.command._print", "workbench.extensions.papers.command._write_report"),
    ),
    "calibrate": (["calibrate"], ("workbench.machines.calibrate.calibrate",)),
    "retime": (["retime", "TRACE", "--machine", "k40"], ("workbench.machines.retime.retime",)),
    "scaling": (["scaling", "poisson7"], ("workbench.extensions.models.ranks_model.model_on_ranks",)),
    "lab": (["lab", "--folder", "a"], ("os.execve",)),
    "app": (["app"], ("os.execve",)),
    "blocks": (["blocks"], ()),
    "doctor": (["doctor"], ()),
    "show": (["show", "a.run"], ()),
}
"""Of each command: arguments, and the functions that it hands its choices to."""
PRINTED = (
    "json",
    "csv",
    "html",
    "save",
    "solution",
    "output",
    "film",
    "record",
    "time",
    "stop_file",
    "picture",
    "trace",
)
"""Options of what is done with the result, which the function of the command reads."""
VALUES: dict[str, Any] = {
    "n": "9", "param": "n=9", "until": "0.25", "renewed_every": "2", "start": "zero", "against": "preconditioner=ssor",
    "rhs": "ones", "x0": "random", "format": "csr", "az": "products", "cluster": "local:2", "memory_limit": "1GB",
    "workers": "local:2", "norm": "natural", "combine": "sum", "engine": "petsc", "options": "-ksp_view",
    "precision": "mixed", "preconditioner": "ssor", "deflation": "blocks:2", "coarse": "multilevel", "device": "opencl",
    "variant": "adef1", "solver": "pipecg", "report": "folder", "machine": "k20m", "accelerator": "k20m",
    "cluster ": "mox", "shape": "boxes", "noise": "1e-6", "problem": "poisson5", "name": "mine", "folder": "b",
    "reduction": "host",
}  # fmt: skip
"""Values that are not the default ones; of other options 7."""


class Handed(BaseException):
    """In place of what a command would do."""


def commands():
    return {verb: parser_of(verb) for verb in verbs("")}


def verbs(verb):
    (found,) = (action for action in program.parser(verb)._actions if isinstance(action, argparse._SubParsersAction))
    return found.choices


def parser_of(verb):
    """The parser of a command with all its options; those of extensions have them where the command is run."""
    return verbs(verb)[verb]


def options():
    for verb, parser in commands().items():
        for action in parser._actions:
            if action.option_strings and action.dest != "help":
                yield verb, action


def given(verb, action):
    """The option with a value that is not its default."""
    name = action.option_strings[0]
    if action.nargs == 0:
        return [name]
    value = "mox" if (verb, action.dest) == ("scaling", "cluster") else VALUES.get(action.dest, "7")
    return [name, value]


@pytest.fixture
def handed(tmp_path, monkeypatch):
    """Run a command up to where it hands its choices on; returns these as a text."""
    trace = Trace("m")
    trace.append(Event("A", "cpu", 0.0, 1.0, 8, 2))
    save_trace(trace, tmp_path / "trace.json")
    monkeypatch.chdir(tmp_path)

    def call(verb, more=()):
        arguments, functions = HANDED_ON[verb]

        def hand_on(*choices, **named):
            kept = [value for value in choices if not isinstance(value, argparse.Namespace)]
            plain = [value.to_dict() if hasattr(value, "to_dict") else value for value in (kept, named)]
            raise Handed(repr([described(value) for value in plain]))

        with monkeypatch.context() as patched:
            for function in functions:
                module, _, name = function.rpartition(".")
                patched.setattr(importlib.import_module(module), name, hand_on)
            read = program.parsed([str(tmp_path / "trace.json") if a == "TRACE" else a for a in (*arguments, *more)])
            read.rank = None
            with pytest.raises((Handed, InputError)) as ended:
                read.command(read)
        return ended.type is InputError, str(ended.value)

    return call


def described(value):
    """What tells two choices apart, in a text without addresses."""
    if isinstance(value, dict):
        return {key: described(part) for key, part in value.items() if not callable(part)}
    if isinstance(value, list | tuple):
        return [described(part) for part in value if not callable(part)]
    return described(value.to_dict()) if hasattr(value, "to_dict") else value


@pytest.mark.parametrize("verb", commands())
def test_every_option_changes_what_is_handed_on(verb, handed):
    assert verb in HANDED_ON, f"say what `workbench {verb}` hands its choices to"
    before = handed(verb) if HANDED_ON[verb][1] else None
    assert before is None or not before[0], before
    module = inspect.getsource(sys.modules[commands()[verb].get_default("command").__module__])
    for _, action in (pair for pair in options() if pair[0] == verb):
        if action.dest in PRINTED:
            assert f"options.{action.dest}" in module, (verb, action.dest)
            continue
        try:
            after = handed(verb, given(verb, action))
        except InputError:
            continue
        assert after != before, (verb, *given(verb, action))


EXTREME = {
    "rtol": "0.5", "atol": "1e300", "norm": "natural", "maxiter": "1", "max_seconds": "1e-9", "stagnation": "1",
    "true_every": "1", "check_every": "1",
}  # fmt: skip
DECIDING = {
    "solve": (["poisson5", "--n", "12", "--rhs", "random"], {"check_every"}),
    "sweep": (["poisson5", "--n", "12", "--rhs", "random"], set[str]()),
    "flow": (["heat-steps", "--n", "16", "--until", "0.02"], set[str]()),
}
"""Of each command a small problem, and options that count on accelerators alone, as their help says."""
TIMES = ("seconds", "setup", "compil", "started", "memory", "elapsed", "runs_at_once", "notes")


def timeless(plain: Any) -> Any:
    """Plain data without what no two runs have alike."""
    if isinstance(plain, dict):
        return {key: timeless(value) for key, value in plain.items() if not any(word in key for word in TIMES)}
    return [timeless(value) for value in plain] if isinstance(plain, list) else plain


@pytest.mark.parametrize("verb", DECIDING)
def test_every_stopping_criterion_decides_when_a_solve_ends(verb, capsys, tmp_path):
    arguments, elsewhere = DECIDING[verb]

    def printed(*more):
        saved = ["--save", str(tmp_path / "a.run")] if verb == "solve" else []
        status = program.run([verb, *arguments, *more, *saved, "--json"])
        said = capsys.readouterr()
        # A first step that fails leaves a sentence alone.
        found = timeless(json.loads(said.out)) if said.out else {"error": said.err}
        found.pop("provenance", None)
        confirmed = np.load(tmp_path / "a.run")["true_residuals"].tolist() if verb == "solve" else []
        return status, found, confirmed

    before = printed()
    asked = [action for name, action in options() if name == verb and action.dest in STOPPING]
    assert asked
    for action in asked:
        if action.dest not in elsewhere:
            assert printed(action.option_strings[0], EXTREME[action.dest]) != before, (verb, action.dest)
        else:
            assert "accelerator" in action.help


def refused(capsys, *arguments):
    assert program.run(list(arguments)) == 2
    return capsys.readouterr().err


def test_rtol_is_refused_where_a_sequence_has_its_own_tolerance(capsys, tmp_path):
    asked = ("flow", "rising-bubbles", "--n", "16", "--until", "0.01", "--rtol", "1e-9")
    assert "choose --param volume_error=NUMBER" in refused(capsys, *asked)
    path = records.save(Sequence("rising-bubbles", n=16, until=0.01, keep=True).run(), tmp_path / "a")
    assert "choose --param looser=NUMBER" in refused(capsys, "flow", str(path), "--rtol", "1e-3")
    assert "volume_error" in refused(capsys, "flow", str(path), "--resume", "--rtol", "1e-3")
    heat = records.save(Sequence("heat-steps", n=16, until=0.02, keep=True).run(), tmp_path / "heat")
    assert "looser multiplies" in refused(capsys, "flow", str(heat), "--param", "looser=10")


def test_a_record_goes_on_with_further_methods(capsys, tmp_path):
    path = records.save(Sequence("heat-steps", n=16, until=0.02, keep=True).run(), tmp_path / "a")
    assert program.run(["flow", str(path), "--resume", "--against", "preconditioner=none", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["methods"]) == 2


def test_devices_are_no_files(capsys):
    for path in ("/dev/full", os.devnull):
        error = refused(capsys, "flow", "heat-steps", "--n", "16", "--record", path)
        assert f"cannot write {path}: it is no regular file" in error
        assert not os.path.exists(f"{path}{records.RECORD}")


def test_blocks_are_known():
    """The values above are of blocks that there are."""
    assert set(BLOCKS) <= set(VALUES)


def test_a_command_behind_unknown_options_has_its_own(capsys):
    """Its arguments are not the unknown ones."""
    assert "unrecognized arguments: -x;" in refused(capsys, "-x", "solve", "two-layer")
    assert "required: PROBLEM" in refused(capsys, "--x", "solve")
    assert program.run(["-h", "solve"]) == 0
    everything = capsys.readouterr().out
    assert program.run(["-h"]) == 0
    assert capsys.readouterr().out == everything
