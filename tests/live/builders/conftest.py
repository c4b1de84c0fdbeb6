"""Uploads and downloads of matrices go to a folder of the test."""

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("WORKBENCH_SUITESPARSE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")
    return tmp_path / "cache"
