"""A process that has imported the workbench and forks a kernel for each page: `python -m` its name.

Importing takes seconds and about 200 MB; a forked kernel shares both (copy on write) and is there at once. Requests and
answers are lines of JSON on the socket that is the standard input; the process ends when that closes, and its kernels
with it. It has one thread of Python only, since a fork copies no other.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from workbench import devices
from workbench.errors import InputError
from workbench.extensions.lessons.references import references
from workbench.live.ui.assets import style_sheet
from workbench.live.ui.form_schema import DOCS, blocks_schema
from workbench.registry import catalogue
from workbench.registry.extensions import Extension, extensions

CLASS = "class"
"""The argument with which pages are forked for a class."""
PRELOADED = ("ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.debugger", "numpy.random", "workbench.live")
"""Modules that every page imports, without PyOpenCL: a process that is forked after its import crashes in it."""
OF_KERNELS = ("--HistoryManager.enabled=False",)
"""Options of each kernel. Nobody types code in a page, so that none is kept in a file."""


def serve(requests: socket.socket, idle: Iterator[object]) -> dict[str, Any] | None:
    """Fork a kernel for each request. Returns the request and its "parent", the process number of this one, in the
    forked process; None once the other end is closed. idle: its steps are done while there is no request."""
    lines, parent = requests.makefile("rw"), os.getpid()
    while True:
        # A request is answered before the next one is sent, so that none waits in the buffer of the lines.
        while not select.select([requests], [], [], 0)[0] and next(idle, idle) is not idle:
            pass
        line = lines.readline()
        if not line:
            return None
        child = os.fork()
        if child == 0:
            return {**json.loads(line), "parent": parent}
        lines.write(json.dumps({"pid": child}) + "\n")
        lines.flush()


def preload(modules: Sequence[str]) -> None:
    """Import modules, those of views of extensions, and all blocks, which the menus list.

    The garbage collector of the kernels is kept from writing to their objects, which would copy the memory.
    """
    for name in modules:
        importlib.import_module(name)
    for extension in extensions().values():
        for name in _of_page(extension):
            with contextlib.suppress(InputError):
                extension.imported(name)
    style_sheet()
    catalogue()
    blocks_schema(tuple(DOCS))
    if found := names_of_devices():
        devices.tell_names(found)
    gc.collect()
    gc.freeze()


def names_of_devices() -> tuple[str, ...]:
    """The devices of this machine, asked for in a process that ends then, since one that has imported PyOpenCL cannot
    fork pages. Empty where that fails."""
    answer, said = os.pipe()
    if os.fork() == 0:
        # Whatever is raised: a second process must not go on to serve pages.
        try:
            os.write(said, json.dumps(devices.names()).encode())
        finally:
            os._exit(0)
    os.close(said)
    with open(answer, "rb") as found:
        return tuple(json.loads(found.read() or b"[]"))


def shared_by_all() -> Iterator[None]:
    """Compute what lessons compute for every student alike, in steps of at most a second, and keep it from the garbage
    collector of the kernels."""
    yield from references()
    gc.collect()
    gc.freeze()


def _of_page(extension: Extension) -> set[str]:
    """The modules of an extension that pages use."""
    made = (*extension.bars, *(view.make for view in extension.views))
    return {*extension.widgets.values(), *(reference.partition(":")[0] for reference in made)}


def become_kernel(request: dict[str, Any]) -> None:
    """Be the process that `python -m ipykernel_launcher` starts: run a kernel until it is shut down.

    request: arguments, environment and folder of the process, and its parent, with which it ends.
    """
    os.setsid()
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), sys.stdin.fileno())
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    arguments = [*request["arguments"], *OF_KERNELS]
    sys.argv = ["ipykernel_launcher.py", *arguments]
    # Its state is else the same in all kernels.
    sys.modules["numpy.random"].seed()
    from ipykernel.kernelapp import IPKernelApp

    # The kernel ends when its parent has.
    app = IPKernelApp.instance(parent_handle=request["parent"])
    app.initialize(arguments)
    # ipywidgets does this when it is imported in a kernel; without it a page asks for the state of each widget.
    sys.modules["ipywidgets"].register_comm_target()
    # From here on the kernel watches for it; one that ended before would count as none.
    if os.getppid() != request["parent"]:
        os._exit(1)
    app.start()


def main() -> None:
    """Serve requests from the standard input."""
    # Ctrl-C in a terminal is for the Jupyter server. The system waits for ended kernels.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    preload(PRELOADED)
    with socket.socket(fileno=os.dup(sys.stdin.fileno())) as requests:
        request = serve(requests, shared_by_all() if sys.argv[1:] == [CLASS] else iter(()))
    if request:
        become_kernel(request)


if __name__ == "__main__":
    main()
