"""scripts/chromium.py prints a browser that starts, tries the sources in order, and fails aloud."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import chromium
from workbench.machines import advice


@pytest.fixture
def script(monkeypatch, tmp_path):
    """The script on a machine without a browser, with nothing to install one by."""
    monkeypatch.setattr(chromium, "from_playwright", lambda: iter(()))
    monkeypatch.setenv("PATH", str(tmp_path))
    return chromium


def put(folder: Path, name: str, status: int = 0) -> str:
    program = folder / name
    program.write_text(f"#!/bin/sh\nexit {status}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
def test_a_browser_on_the_path_is_taken(script, tmp_path, capfd, name):
    path = put(tmp_path, name)
    script.main()
    assert capfd.readouterr().out == f"{path}\n"


def test_a_stub_that_does_not_start_is_passed_over(script, tmp_path, capfd):
    put(tmp_path, "chromium", status=1)
    path = put(tmp_path, "google-chrome")
    script.main()
    assert capfd.readouterr().out == f"{path}\n"


@pytest.mark.parametrize("user", [0, 1000])
def test_debians_package_is_installed_as_root_or_with_sudo(script, tmp_path, capfd, monkeypatch, user):
    monkeypatch.setattr(script.os, "geteuid", lambda: user)
    put(tmp_path, "apt-get")
    calls = []

    def succeeds(command):
        calls.append(" ".join(command))
        if "install" in command:
            put(tmp_path, "chromium")
        return True

    monkeypatch.setattr(script, "succeeds", succeeds)
    script.main()
    assert capfd.readouterr().out == f"{tmp_path / 'chromium'}\n"
    steps = [call for call in calls if "apt-get" in call]
    assert [step.split()[-1] for step in steps] == ["update", "fonts-dejavu-core"]
    assert all(step.startswith("sudo -n " if user else "env ") for step in steps)


def test_a_user_who_may_not_install_packages_gets_playwrights(script, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(script.os, "geteuid", lambda: 1000)
    put(tmp_path, "apt-get")
    put(tmp_path, "sudo", status=1)
    path = put(tmp_path, "playwrights-own")
    monkeypatch.setattr(script, "from_playwright", lambda: iter([path]))
    script.main()
    assert capfd.readouterr().out == f"{path}\n"


def test_none_at_all_is_one_sentence_and_a_failure(script, capfd):
    with pytest.raises(SystemExit) as stopped:
        script.main()
    assert str(stopped.value).startswith("the browser tests need Chromium")
    assert "\n" not in str(stopped.value)
    assert capfd.readouterr().out == ""


def test_doctor_looks_for_the_same_browsers(script):
    assert script.NAMES == advice.BROWSERS
