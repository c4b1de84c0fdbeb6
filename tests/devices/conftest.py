"""What is copied between the host and an accelerator."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def transfers(accelerator, monkeypatch) -> dict[str, list[np.ndarray]]:
    """The arrays of all copies to the accelerator (`upload`) and from it (`download`)."""
    runtime, seen = accelerator.runtime, {"upload": [], "download": []}

    def noting(copy, arrays):
        return lambda handle, values: (arrays.append(values), copy(handle, values))

    for name, arrays in seen.items():
        monkeypatch.setattr(runtime, name, noting(getattr(runtime, name), arrays))
    return seen
