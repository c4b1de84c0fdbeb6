"""Extensions of others, installed for a test."""

import pytest

from tests.registry.foreign import Installer


@pytest.fixture
def installer(tmp_path, monkeypatch):
    """Installs extensions of others for this test."""
    made = Installer(tmp_path / "site", monkeypatch)
    yield made
    made.uninstall()
