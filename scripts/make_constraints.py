"""Write constraints.txt: versions of all packages that `.[lab,app,opencl,cluster,mpi,docs,dev]` needs, for 3.11.0.

Takes about two minutes and installs nothing, since pip only reads metadata. One pin serves all Pythons: it is chosen
for 3.11.0 (some packages refuse early releases of 3.11, and Debian 12 has one of them), then tested for each newer
Python. Run with Python 3.11 on Linux x86-64, through `make constraints`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
EXTRAS = ("lab", "app", "opencl", "cluster", "mpi", "docs", "dev")
OLDEST = "3.11.0"
NEWER = ("3.12.0", "3.13.0", "3.14.0")
HEADER = "# Written by `make constraints`: the versions that the tests were run with.\n"


def main() -> None:
    """Choose, test, and only then replace constraints.txt. Raises SystemExit with a sentence."""
    if sys.version_info[:2] != (3, 11):
        # pip evaluates conditions such as `python_version < "3.12"` for the Python that runs it.
        sys.exit("constraints.txt is made with Python 3.11; name one, as in: make constraints PYTHON=python3.11")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", Path(folder) / "venv"], check=True)
        draft = Path(folder) / "constraints.txt"
        draft.write_text("")
        chosen = resolve(Path(folder), draft, OLDEST)
        draft.write_text(HEADER + "".join(f"{name}=={version}\n" for name, version in chosen))
        for version in NEWER:
            resolve(Path(folder), draft, version)
        CONSTRAINTS.write_text(draft.read_text())
    print(f"{CONSTRAINTS.name}: {len(chosen)} versions")


def resolve(folder: Path, constraints: Path, version: str) -> list[tuple[str, str]]:
    """The sorted names and versions that pip would install for that Python; exits with one sentence if there are
    none."""
    print(f"choosing versions for Python {version}", flush=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [need for extra in EXTRAS for need in project["optional-dependencies"][extra]]
    pip = [folder / "venv" / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    # pip chooses for another Python only with a target folder, to which a dry run writes nothing.
    options = ["--dry-run", "--ignore-installed", "--only-binary=:all:", "--python-version", version]
    options += ["--target", folder / "target", "-c", constraints, "--report", folder / "report.json"]
    if subprocess.run([*pip, *options, *project["dependencies"], *extras], check=False).returncode:
        sys.exit(f"there is no choice of versions for Python {version}; adjust the bounds in pyproject.toml")
    found = json.loads((folder / "report.json").read_text())["install"]
    named = ((item["metadata"]["name"], item["metadata"]["version"]) for item in found)
    return sorted(named, key=lambda pin: f"{pin[0]}=={pin[1]}".lower())


if __name__ == "__main__":
    main()
