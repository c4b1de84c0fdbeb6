"""Settings are declared once: dataclasses, options, links and the form agree with the declarations."""

from __future__ import annotations

import base64
import dataclasses
import math
import zlib

import pytest

from workbench.cli import program
from workbench.cli.options import described
from workbench.errors import InputError
from workbench.registry import Parameter
from workbench.run import Configuration, Stopping, configure
from workbench.run.choices.share_link import from_link, to_link
from workbench.settings import BLOCKS, RUN, STOPPING, read_size

ALL = {**BLOCKS, **RUN, **STOPPING}


def test_dataclasses_have_the_declared_fields_and_defaults():
    assert {field.name: field.default for field in dataclasses.fields(Stopping)} == {
        name: declared.default for name, declared in STOPPING.items()
    }
    names = {field.name for field in dataclasses.fields(Configuration)}
    assert names == {"problem", *BLOCKS, *RUN, "stopping"}
    plain = configure("poisson5").to_dict()
    assert list(plain) == ["problem", *BLOCKS, *RUN, "stopping"]
    assert list(plain["stopping"]) == list(STOPPING)


def test_every_setting_is_an_option_of_solve_with_its_help(capsys):
    with pytest.raises(SystemExit):
        program.parser("solve").parse_args(["solve", "--help"])
    printed = "".join(capsys.readouterr().out.split())
    for name, declared in ALL.items():
        assert f"--{name.replace('_', '-')}" in printed
        assert "".join(described(declared).split()) in printed


def test_a_link_holds_the_settings_in_the_declared_order():
    """Links of version 1."""
    stopping = Stopping(true_every=3, rtol=1e-3, norm="natural", max_seconds=math.inf)
    link = to_link(
        configure("poisson5", seed=2, device="auto", variant="a-def2", solver="pipecg", x0="zero", stopping=stopping)
    )
    body = link.removeprefix("cgw1.")
    text = zlib.decompress(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))).decode()
    assert text == (
        '{"problem":"poisson5","solver":"pipecg","coarse":"auto","variant":"a-def2","device":"auto","x0":"zero","seed":2,'
        '"stopping":{"rtol":0.001,"norm":"natural","max_seconds":Infinity,"true_every":3}}'
    )
    assert from_link(link).stopping == stopping


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("max_seconds", 0, "max_seconds must be above 0, got 0"),
        ("max_seconds", math.nan, "max_seconds must be a finite number, got nan"),
        ("atol", math.inf, "atol must be a finite number, got inf"),
        ("stagnation", 0, "stagnation must be at least 1, got 0"),
        ("check_every", 10_001, "check_every must be between 1 and 10000, got 10001"),
        ("stagnation", None, "stagnation must be a whole number, got None"),
        ("memory_limit", 2**63 + 1, "memory_limit must be between 1 byte and 8 EiB"),
        ("memory_limit", 0, "memory_limit must be between 1 byte and 8 EiB, got 0"),
        ("maxiter", 2.5, "maxiter must be a whole number, got 2.5"),
        ("maxiter", "many", "maxiter must be a whole number, got 'many'"),
        ("maxiter", -1, "maxiter must be at least 0, got -1"),
        ("rtol", "small", "rtol must be a number, got 'small'"),
        ("rtol", -1, "rtol must be at least 0, got -1"),
        ("rtol", math.nan, "rtol must be a finite number, got nan"),
        ("norm", "residul", "unknown norm 'residul'; did you mean residual"),
        ("true_every", 0, "true_every must be at least 1, got 0"),
        ("max_seconds", [1], r"max_seconds must be a number, got \[1\]"),
    ],
)
def test_values_out_of_bounds_are_refused(name, value, sentence):
    with pytest.raises(InputError, match=sentence):
        ALL[name].check(value)


def test_conversion_reads_texts_and_keeps_none_where_it_has_a_meaning():
    assert [ALL["maxiter"].check(value) for value in (None, "5", 1e3)] == [None, 5, 1000]
    assert ALL["max_seconds"].check("inf") == math.inf
    assert ALL["memory_limit"].check("2GiB") == 2**31


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4096", 4096), ("100MB", 10**8), ("1.5 kB", 1500), ("2GiB", 2**31), ("3KiB", 3072), ("7B", 7), ("1T", 10**12)],
)
def test_sizes(text, expected):
    assert read_size(text) == expected


@pytest.mark.parametrize("text", ["", "MB", "-1MB", "1 parsec", "1e6"])
def test_what_is_no_size(text):
    with pytest.raises(InputError, match="a size is a number of bytes"):
        read_size(text)


@pytest.mark.parametrize("text", ["9" * 400, "9" * 400 + ".5GiB", "9223372036854775809KB"])
def test_a_size_beyond_every_machine_is_refused(text):
    with pytest.raises(InputError, match=r"a size is at most 8 EiB, got '") as caught:
        read_size(text)
    assert len(str(caught.value)) < 150


def test_a_configuration_of_a_version_that_had_no_limits_has_none():
    plain = configure("poisson5", n=8, memory_limit=12345).to_dict()
    assert Configuration.from_dict(plain).memory_limit == 12345
    del plain["memory_limit"]
    assert Configuration.from_dict(plain).memory_limit is None


def test_stopping_needs_a_tolerance():
    with pytest.raises(InputError, match="rtol and atol are both 0"):
        Stopping(rtol=0, atol=0)


def test_stopping_criteria_are_replaced_by_name():
    base = Stopping(rtol=1e-3, maxiter=7)
    assert base.changed({"rtol": "1e-4"}) == Stopping(rtol=1e-4, maxiter=7)
    with pytest.raises(InputError, match="unknown stopping criterion 'rtoll'; did you mean rtol?"):
        base.changed({"rtoll": 1})


def test_bounds_in_words():
    declared = Parameter("x", float, 1.0, "a length", above=0, high=2, unit="m")
    assert declared.about == "a length; above 0 and at most 2; in m"
