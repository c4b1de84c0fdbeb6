"""The first seeds of the random search: nothing false is said, and every failure has its explanation."""

import collections

import numpy as np
import pytest

from tests.truth.search import BLAMED, FALSE, SAID, UNEXPLAINED, WORSE, draw, examine

SEEDS = 300
PARTS = 6

pytestmark = pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="long double is double precision here")


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, PARTS))])
@pytest.mark.filterwarnings("ignore")
def test_what_runs_say_is_true_and_failures_are_explained(part):
    counted = collections.Counter()
    for seed in range(part, SEEDS, PARTS):
        case = draw(seed)
        outcome = examine(case)
        assert outcome.kind not in (FALSE, BLAMED, WORSE, SAID, UNEXPLAINED), f"{outcome.kind} {case}: {outcome.text}"
        counted[outcome.kind] += 1
    # The draw is no good if hardly anything converges.
    assert counted["converged"] >= SEEDS / PARTS / 3, counted
