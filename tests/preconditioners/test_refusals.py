"""What preconditioners refuse: operators without entries, and parameters out of their bounds."""

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from workbench import devices, registry
from workbench.errors import InputError
from workbench.operators import as_operator


@pytest.mark.parametrize("spec", ["ic", "mic", "block-ic", "ssor", "chebyshev", "fsai", "amg"])
def test_an_operator_without_entries_is_refused(spec):
    if spec == "amg":
        pytest.importorskip("pyamg")
    operator = as_operator(aslinearoperator(np.eye(3)))
    with pytest.raises(InputError, match="of a LinearOperator (is|are) not available"):
        registry.find("preconditioner", spec).setup(operator, devices.device("cpu"))


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("ssor:2", "ssor: omega must be between 0.001 and 1.999, got 2"),
        ("mic:1.1", "mic: omega must be between 0 and 1, got 1.1"),
        ("block-ic:0", "block-ic: rows must be between 1 and 1e+09, got 0"),
        ("ic:2", "preconditioner ic takes no argument, got '2'; write ic"),
        ("chebyshev:0", "chebyshev: degree must be between 1 and 64, got 0"),
        ("amg:as", "amg: unknown method 'as'; did you mean sa?"),
        ("fsai:2", "preconditioner fsai takes no argument, got '2'; write fsai"),
    ],
)
def test_invalid_parameters_are_refused(spec, sentence):
    with pytest.raises(InputError) as caught:
        registry.find("preconditioner", spec)
    assert str(caught.value) == sentence
