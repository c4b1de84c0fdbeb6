"""A Dask cluster on this machine."""

from __future__ import annotations

import pytest

from workbench.domain_decomposition.local_workers import LocalWorkers


@pytest.fixture(scope="session")
def scheduler():
    """The address of a scheduler with three workers."""
    distributed = pytest.importorskip("distributed")
    made = LocalWorkers(distributed, 3)
    with distributed.Client(made.address, set_as_default=False) as client:
        made.wait_for(client)
    yield made.address
    made.close()
