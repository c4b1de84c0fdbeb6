"""The help of blocks: mathematics is printed, and words of code are the page's."""

import re

from workbench.live.ui.form_schema import blocks_schema
from workbench.settings import BLOCKS

CODE = re.compile(
    r"`|<-|\^[\w(]|_inf\b|\bsqrt\(|\b(alpha|beta|gamma|omega)\b|density_ratio|\bn x n|\d\*|assemble_|_seconds"
)


def test_the_help_of_every_block_has_no_code_in_it():
    found = blocks_schema(("problem", *BLOCKS))
    said = [text for listed in found.values() for block in listed.values() for text in block["about"]]
    assert [text for text in said if CODE.search(text)] == []


def test_the_help_of_the_neumann_series_is_mathematics():
    about = " ".join(blocks_schema(("preconditioner",))["preconditioner"]["neumann"]["about"])
    assert "(−L D⁻¹)ᵏ" in about
    assert "v ← r − L D⁻¹ v" in about
    # The page makes a subscript of it.
    assert "‖L D⁻¹‖_∞ < 1" in about
    assert "up to 1\u202f048\u202f576 unknowns" in about


def test_parameters_and_blocks_have_their_labels_and_references_to_code_are_left_out():
    found = blocks_schema(("solver", "preconditioner"))
    about = " ".join(found["preconditioner"]["chebyshev"]["about"])
    assert "of degree “Degree” minimizes" in about
    assert "see" not in " ".join(found["preconditioner"]["amg"]["about"])
    assert "The recurrence is that of Conjugate gradients." in " ".join(found["solver"]["sum-cg"]["about"])
