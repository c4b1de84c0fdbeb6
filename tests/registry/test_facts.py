"""Every registered block has what menus and forms say of it."""

from __future__ import annotations

import re

import pytest

import workbench.run  # noqa: F401  declares the packages of blocks
from workbench.live.ui.form_schema import block_schema
from workbench.registry import Block, kinds, registered
from workbench.registry.facts import SHORT, choice_label, facts, parameter_label
from workbench.settings import RUN, STOPPING

BLOCKS = [cls for kind in kinds() for cls in registered(kind).values() if cls.__module__.startswith("workbench.")]
NAMES = [f"{cls.kind}-{cls.name}" for cls in BLOCKS]


@pytest.mark.parametrize("cls", BLOCKS, ids=NAMES)
def test_every_block_has_names_a_formula_a_cost_a_source_and_paragraphs_without_what_code_raises(cls):
    known, schema = facts(cls), block_schema(cls)
    assert known.group != "User-defined", "add it to data/blocks.toml"
    assert known.label
    assert known.label != cls.name
    assert known.formula
    assert 3 < len(known.source) < 100
    # One line each; that of a solver is counted from its lines where it has some.
    assert 3 < len(schema["cost"]) < 110
    assert "\n" not in known.formula + known.source + schema["cost"]
    for declared in cls.parameters():
        label = parameter_label(cls.name, declared.name)
        assert label[0].isupper(), f"{declared.name} has no label in data/blocks.toml"
        assert "_" not in label
    for paragraph in schema["about"]:
        assert "Raises" not in paragraph
        assert "InputError" not in paragraph
        assert "\n" not in paragraph or paragraph.startswith("|")
        assert "^-" not in paragraph


@pytest.mark.parametrize("cls", BLOCKS, ids=NAMES)
def test_no_source_or_cost_ends_in_the_middle_of_a_sentence(cls):
    known = facts(cls)
    for text in (known.source, known.cost):
        assert not re.search(rf"(?:^|\s)({'|'.join(map(re.escape, SHORT))})$", text)
        assert text.count("(") == text.count(")")


def test_a_source_keeps_the_short_names_of_its_journal():
    assert facts(registered("problem")["rising-bubbles"]).source.endswith("Methods Fluids 60, test case 1")


def test_every_setting_of_the_form_has_a_readable_name():
    for name in (*RUN, "norm", "rtol", "maxiter"):
        assert parameter_label("run", name) != name
        for choice in {**RUN, **STOPPING}[name].choices:
            assert choice_label(name, choice) != choice


def test_names_within_a_kind_differ():
    for kind in kinds():
        labels = [facts(cls).label for cls in BLOCKS if cls.kind == kind]
        assert len(labels) == len(set(labels))


def test_the_cost_of_a_solver_is_counted_from_its_lines():
    solvers = registered("solver")
    assert block_schema(solvers["cg"])["cost"] == "1 × A, 1 × M⁻¹, 3 vector updates, 2 reductions"
    assert block_schema(solvers["pipecg"])["cost"] == "1 × A, 1 × M⁻¹, 8 vector updates, 1 reduction"


def test_cost_and_source_come_from_the_docstring():
    class Toy(Block):
        """Does nothing.

        Cost: one pass over x. More follows.
        Raises InputError never.

        Source: Nobody 1900; Somebody 1901.
        """

        kind, name, title = "toy", "toy", "a toy"

    known = facts(Toy)
    assert (known.label, known.group) == ("a toy", "User-defined")
    assert (known.cost, known.source) == ("one pass over x", "Nobody 1900")


def test_values_of_menus_have_readable_names():
    assert choice_label("method", "sa") == "Smoothed aggregation"
    assert choice_label("method", "unknown") == "unknown"
