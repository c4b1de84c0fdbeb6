"""The lower bounds that `make test-oldest` installs."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement

from scripts import oldest
from tests.packaging.test_environment import PROJECT, ROOT, needs


def test_each_dependency_is_installed_at_its_lower_bound():
    found = {(need.name, str(need.marker)): need for need in map(Requirement, oldest.lower_bounds(PROJECT))}
    # What two extras need is one need.
    for need in {str(need): need for need in needs(*oldest.EXTRAS)}.values():
        exact = found.pop((need.name, str(need.marker)))
        (version,) = (part.version for part in exact.specifier)
        assert need.specifier.contains(version)
        assert {f">={version}"} == {str(part) for part in need.specifier if part.operator == ">="}
        assert exact.extras == need.extras
    assert {name for name, _ in found} == oldest.TOOLS


@pytest.mark.parametrize("line", ["numpy", "numpy<3", "numpy==2.1"])
def test_a_dependency_without_a_lower_bound_is_refused(line):
    with pytest.raises(ValueError, match="no lower bound in 'numpy"):
        oldest.exact(line)


def test_the_tests_are_there():
    assert all((ROOT / name.partition("::")[0]).exists() for name in oldest.TESTS)
