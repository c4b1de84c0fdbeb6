"""Install into `.venv` what pyproject.toml and constraints.txt declare: `python3 scripts/install.py lab opencl`.

Takes about a minute the first time and 0.1 s if nothing has changed. The content of `.venv` is recorded there in
`installed.json`, written last: an interrupted installation leaves no record but a file `installing`, and the next call
rebuilds the environment. Runs with any Python >= 3.11 and the standard library only.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
RECORD = VENV / "installed.json"
INSTALLING = VENV / "installing"
SOURCES = ("pyproject.toml", "constraints.txt")
# Otherwise JupyterLab asks in a popup whether it may fetch news, and checks for updates at each start.
LAB_SETTINGS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}


def main(extras: list[str]) -> None:
    """Install the package with these extras unless present. Raises SystemExit with a sentence."""
    wanted = {**identity(), "sources": digest(), "extras": sorted(extras)}
    with one_at_a_time():
        found = record()
        if satisfies(found, wanted):
            return
        if not reusable(found, wanted):
            create()
        # Extras installed earlier stay, at the same versions.
        wanted["extras"] = sorted({*wanted["extras"], *found.get("extras", [])})
        install(wanted["extras"])
        write(VENV / "share" / "jupyter" / "lab" / "settings" / "overrides.json", LAB_SETTINGS)
        write(RECORD, wanted)
        INSTALLING.unlink()


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Hold a lock on the checkout's folder, so that a second call waits for the first."""
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        # Some network file systems cannot lock folders; calls are then not serialized.
        with contextlib.suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def identity() -> dict[str, str]:
    """Properties that an environment cannot change: the Python it links to and its own path, which its scripts
    contain."""
    return {"python": f"{sys.version_info.major}.{sys.version_info.minor}", "path": str(VENV)}


def digest() -> str:
    """A hash of the files that decide which packages are installed."""
    return hashlib.sha256(b"\0".join((ROOT / name).read_bytes() for name in SOURCES)).hexdigest()


def record() -> dict:
    """The record of the last completed installation; empty if there is none or it cannot be read."""
    try:
        return json.loads(RECORD.read_text())
    except (OSError, ValueError):
        return {}


def satisfies(found: dict, wanted: dict) -> bool:
    """Whether an environment with that record has everything wanted, so that nothing needs doing."""
    same = all(found.get(key) == wanted[key] for key in ("python", "path", "sources"))
    return same and set(wanted["extras"]) <= set(found["extras"]) and PYTHON.exists() and not INSTALLING.exists()


def reusable(found: dict, wanted: dict) -> bool:
    """Whether packages can be added to the environment as it is: complete, same Python, working pip."""
    moved = found and any(found.get(key) != wanted[key] for key in ("python", "path"))
    if moved or INSTALLING.exists() or not PYTHON.exists():
        return False
    return subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0


def create() -> None:
    """Create an empty environment with pip, replacing the present one."""
    try:
        import ensurepip  # noqa: F401 - a separate package in Debian, and venv fails without it
        import venv  # noqa: F401
    except ImportError:
        sys.exit("python3 cannot make virtual environments; on Debian and Ubuntu run: apt-get install python3-venv")
    print(f"creating {VENV.relative_to(ROOT)} with Python {sys.version.split()[0]}", flush=True)
    run([sys.executable, "-m", "venv", "--clear", "--without-pip", VENV])
    INSTALLING.touch()
    run([PYTHON, "-m", "ensurepip", "--default-pip"], stdout=subprocess.DEVNULL)


def install(extras: list[str]) -> None:
    """Install the package in editable form with these extras, at the versions of constraints.txt."""
    INSTALLING.touch()
    print(f"installing cg-workbench[{','.join(extras)}]; the first time this takes about a minute", flush=True)
    pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    run([*pip, "-c", "constraints.txt", "-e", f".[{','.join(extras)}]"])
    if "opencl" in extras:
        run([PYTHON, "scripts/pocl.py"])


def run(command: list[str | Path], **options: int) -> None:
    """Run a command in the checkout; exit with one sentence if it fails."""
    # A PYTHONPATH or PYTHONHOME of the caller would make pip see packages outside the environment.
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    status = subprocess.run(command, cwd=ROOT, env=clean, check=False, **options).returncode
    if status:
        sys.exit(f"installing failed at `{' '.join(map(str, command))}`; fix the error above and call make again")


def write(path: Path, content: dict) -> None:
    """Write JSON atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(content, indent=2) + "\n")
    draft.replace(path)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("interrupted; the next call of make rebuilds .venv")
