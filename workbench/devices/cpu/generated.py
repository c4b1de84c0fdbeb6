"""Generated kernels: source written as a module into the cache folder, so that numba can keep machine code there."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import numba
import numpy as np
import platformdirs

from workbench.devices.cpu import turns
from workbench.devices.cpu.sharing import share_cache

HEADER = '''"""Generated; safe to delete."""

import numpy as np
from numba import njit, prange

from workbench.devices.cpu.turns import shared

'''
DECORATOR = """@njit(
    parallel={parallel}, nogil=True, cache=True, error_model="numpy", fastmath={{"reassoc", "contract", "nsz"}}
)
"""

_importing = threading.Lock()
share_cache()


def kernel(body: str, *, parallel: bool = True) -> Callable[..., None]:
    """The function `kernel` that `body` defines, compiled by numba on first call and from disk after that."""
    source = HEADER + DECORATOR.format(parallel=parallel) + body
    text = "\n".join((source, inspect.getsource(turns), numba.__version__, np.__version__, sys.version))
    name = "lines_" + hashlib.sha256(text.encode()).hexdigest()[:24]
    with _importing:
        if name not in sys.modules:
            path = _folder() / f"{name}.py"
            if not path.exists():
                _write(path, source)
            spec = importlib.util.spec_from_file_location(name, path)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            sys.modules[name] = module
        return sys.modules[name].kernel


def over(count: str, body: Iterable[str], name: str = "chunk") -> list[str]:
    """Lines that do `body` for every chunk below `count`, shared by the cores; `turns` is the kernel's first argument.

    `lane` in the body tells one core from another.
    """
    head = ["for lane in prange(turns.shape[0]):", f"    for {name} in shared(turns, lane, {count}):"]
    return [*head, *(f"        {line}" for line in body)]


def _folder() -> Path:
    """A writable folder for kernels: the user's cache, or a temporary one where that cannot be written."""
    base = os.environ.get("WORKBENCH_CACHE") or platformdirs.user_cache_dir("cg-workbench")
    folder = Path(base) / "kernels"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        fallback = Path(tempfile.gettempdir()) / f"cg-workbench-{os.getuid()}"
        fallback.mkdir(exist_ok=True, mode=0o700)
        # What lies there is run as code, so a folder that somebody else made is not used.
        if fallback.stat().st_uid != os.getuid():
            return Path(tempfile.mkdtemp(prefix="cg-workbench-"))
        return fallback


def _write(path: Path, source: str) -> None:
    with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False) as file:
        file.write(source)
    try:
        # Another process may have written it meanwhile. Its file must stay: numba goes by the time that it was written.
        os.link(file.name, path)
    except FileExistsError:
        pass
    # Not every file system has links.
    except OSError:
        os.replace(file.name, path)
        return
    os.unlink(file.name)
