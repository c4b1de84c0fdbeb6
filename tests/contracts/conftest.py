"""The solution that combinations of blocks are compared with."""

import numpy as np
import pytest

from workbench.run import configure


@pytest.fixture(scope="session")
def expected():
    """That of the two-layer problem with n = 16, by dense algebra."""
    system = configure("two-layer", n=16).problem.assemble()
    return np.linalg.solve(system.operator.to_csr().toarray(), system.b)
