"""The device that stands for a GPU in tests records launches as one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import SIDE_BY_SIDE

pytestmark = pytest.mark.parametrize("accelerator", [SIDE_BY_SIDE, "cuda"], indirect=True)


def test_what_is_recorded_is_repeated_in_the_memory_of_then(accelerator):
    runtime = accelerator.runtime
    source, target = (accelerator.array(values, np.dtype(float)) for values in (np.arange(3.0), np.ones(3)))
    repeat = runtime.record(lambda: runtime.copy(target.handle, source.handle, 24))
    np.testing.assert_array_equal(accelerator.to_host(target), 1)
    for values in (np.arange(3.0), np.array([5.0, 6, 7])):
        runtime.upload(source.handle, values)
        repeat()
        np.testing.assert_array_equal(accelerator.to_host(target), values)


def test_the_host_has_no_part_in_what_is_recorded(accelerator):
    runtime, vector = accelerator.runtime, accelerator.zeros(3, np.dtype(float))
    if runtime.name == "cuda":
        # It records nothing then.
        assert runtime.record(lambda: runtime.upload(vector.handle, np.ones(3))) is None
        return
    for act in (lambda: runtime.upload(vector.handle, np.ones(3)), lambda: accelerator.to_host(vector)):
        with pytest.raises(AssertionError, match="host is recorded"):
            runtime.record(act)
    assert not runtime.recording


def test_memory_of_what_is_repeated_is_kept(accelerator):
    if accelerator.runtime.name == "cuda":
        pytest.skip("a GPU does not notice")
    runtime, vectors = accelerator.runtime, [accelerator.zeros(3, np.dtype(float)) for _ in range(2)]
    repeat = runtime.record(lambda: runtime.copy(vectors[0].handle, vectors[1].handle, 24))
    repeat()
    del vectors[1]
    with pytest.raises(AssertionError, match="memory that was freed"):
        repeat()
