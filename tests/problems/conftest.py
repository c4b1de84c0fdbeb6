"""Shared fixtures: an isolated download cache and a writer of small Matrix Market files."""

import pytest

from workbench.jit import store


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """No test may touch the user's downloads or the network: the default mirror is a closed port. Compiled kernels are
    those of the user, or each test would compile its own."""
    folder, kernels = tmp_path / "cache", list(store._folders())
    monkeypatch.setattr(store, "_folders", lambda: kernels)
    monkeypatch.setenv("WORKBENCH_CACHE", str(folder))
    monkeypatch.setenv("WORKBENCH_SUITESPARSE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")
    return folder


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file in the test's own folder and return its path."""

    def writer(content, name="a.mtx"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("latin-1"))
        return path

    return writer
