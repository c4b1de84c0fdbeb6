"""scripts/install.py does what is needed and no more, and repairs what was interrupted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import install


class Checkout:
    """A checkout in which commands are noted in place of being run; `make` is a call of the script."""

    def __init__(self, script, root: Path):
        self.script, self.root, self.calls = script, root, []
        self.fail_at = ""

    def run(self, command, **options):
        words = " ".join(map(str, command))
        self.calls.append(words)
        if self.fail_at and self.fail_at in words:
            raise SystemExit("stopped")
        if "venv --clear" in words:
            for left in self.script.VENV.glob("*.*"):
                left.unlink()
            self.script.INSTALLING.unlink(missing_ok=True)
            self.script.PYTHON.parent.mkdir(parents=True, exist_ok=True)
            self.script.PYTHON.write_text("#!/bin/sh\nexit 0\n")
            self.script.PYTHON.chmod(0o755)

    def make(self, *extras: str) -> str:
        """What one call did: `created`, `installed [extras]`, both or nothing."""
        self.calls.clear()
        self.script.main(list(extras))
        created = ["created"] if any("venv --clear" in call for call in self.calls) else []
        return " ".join(created + [call[call.index(" -e ") + 4 :] for call in self.calls if " -e " in call])


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    for name in install.SOURCES:
        (tmp_path / name).write_text(name)
    venv = tmp_path / ".venv"
    places = {"ROOT": tmp_path, "VENV": venv, "PYTHON": venv / "bin" / "python"}
    places |= {"RECORD": venv / "installed.json", "INSTALLING": venv / "installing"}
    for name, value in places.items():
        monkeypatch.setattr(install, name, value)
    made = Checkout(install, tmp_path)
    monkeypatch.setattr(install, "run", made.run)
    return made


def test_the_first_call_creates_and_installs_and_the_second_does_nothing(checkout):
    assert checkout.make("lab", "opencl") == "created .[lab,opencl]"
    assert checkout.make("lab", "opencl") == ""


def test_more_extras_are_added_and_fewer_change_nothing(checkout):
    checkout.make("lab")
    assert checkout.make("lab", "dev") == ".[dev,lab]"
    assert checkout.make("lab") == ""


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_changed_versions_are_installed_with_all_earlier_extras(checkout, name):
    checkout.make("lab", "dev")
    (checkout.root / name).write_text("changed")
    assert checkout.make("lab") == ".[dev,lab]"


@pytest.mark.parametrize("key", ["python", "path"])
def test_an_environment_of_another_python_or_place_is_built_anew(checkout, key):
    checkout.make("lab")
    record = json.loads(checkout.script.RECORD.read_text())
    checkout.script.RECORD.write_text(json.dumps({**record, key: "other"}))
    assert checkout.make("lab") == "created .[lab]"


@pytest.mark.parametrize("step", ["venv --clear", "ensurepip", " -e "])
def test_an_interrupted_installation_is_built_anew(checkout, step):
    checkout.fail_at = step
    with pytest.raises(SystemExit):
        checkout.make("lab")
    checkout.fail_at = ""
    assert checkout.make("lab") == "created .[lab]"
    assert checkout.make("lab") == ""


def test_an_interrupted_update_is_built_anew_although_a_record_is_there(checkout):
    checkout.make("lab")
    checkout.fail_at = " -e "
    with pytest.raises(SystemExit):
        checkout.make("dev")
    checkout.fail_at = ""
    assert checkout.make("lab") == "created .[lab]"


def test_a_python_that_is_gone_is_built_anew(checkout):
    checkout.make("lab")
    checkout.script.PYTHON.unlink()
    assert checkout.make("lab") == "created .[lab]"


def test_a_record_cut_short_counts_as_none(checkout):
    checkout.make("lab")
    checkout.script.RECORD.write_text('{"python"')
    assert checkout.make("lab") == ".[lab]"


def test_jupyter_is_told_not_to_fetch_news(checkout):
    checkout.make("lab")
    settings = checkout.script.VENV / "share/jupyter/lab/settings/overrides.json"
    (notification,) = json.loads(settings.read_text()).values()
    assert notification == {"fetchNews": "false", "checkForUpdates": False}
