"""Write constraints.txt: the version of every package that `.[lab,opencl,dev]` needs, as a fresh environment gets them.

Takes about two minutes. The pins are then resolved once more for each newer Python, without downloading, because they
are made with one Python and used with all. Run through `make constraints`, best with the oldest Python (3.11) on
Linux x86-64, whose pins include what newer ones no longer need.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
EXTRAS = ("lab", "opencl", "dev")
NEWER_PYTHONS = ("3.12", "3.13", "3.14")
HEADER = "# Written by `make constraints`: the versions that the tests were run with.\n"


def main() -> None:
    """Install, freeze, check, and only then replace constraints.txt. Raises SystemExit with a sentence."""
    with tempfile.TemporaryDirectory() as folder:
        pins = freeze(Path(folder) / "venv")
        draft = Path(folder) / "constraints.txt"
        draft.write_text(HEADER + "".join(f"{pin}\n" for pin in pins))
        for version in NEWER_PYTHONS:
            resolve(draft, version)
        CONSTRAINTS.write_text(draft.read_text())
    print(f"{CONSTRAINTS.name}: {len(pins)} versions")


def freeze(venv: Path) -> list[str]:
    """The sorted `name==version` lines of an environment made for this."""
    print(f"installing cg-workbench[{','.join(EXTRAS)}] into a fresh environment", flush=True)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pip = [venv / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "install", "-e", f"{ROOT}[{','.join(EXTRAS)}]"], check=True)
    frozen = subprocess.run([*pip, "freeze", "--exclude-editable"], check=True, capture_output=True, text=True).stdout
    return sorted(frozen.split("\n")[:-1], key=str.lower)


def resolve(constraints: Path, version: str) -> None:
    """Exit with a sentence unless wheels of the pinned versions exist for that Python."""
    print(f"looking for the same versions for Python {version}", flush=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [need for extra in EXTRAS for need in project["optional-dependencies"][extra]]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    # pip resolves for another Python only when told a target folder, to which a dry run writes nothing.
    options = ["--dry-run", "--ignore-installed", "--only-binary=:all:", "--python-version", version]
    options += ["--target", str(constraints.parent / version), "-c", str(constraints)]
    status = subprocess.run([*pip, "install", *options, *project["dependencies"], *extras], check=False).returncode
    if status:
        sys.exit(f"these versions do not exist for Python {version}; adjust the bounds in pyproject.toml")


if __name__ == "__main__":
    main()
