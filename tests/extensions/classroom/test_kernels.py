"""Kernels of served pages: forked, ended, restarted, and bounded in memory."""

import asyncio
import contextlib
import logging
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import psutil
import pytest
from tornado.web import HTTPError

from tests.waiting import LIMIT
from workbench import devices
from workbench.errors import InputError
from workbench.extensions.classroom.server import PageKernels, fork_server
from workbench.extensions.classroom.server import kernels as module
from workbench.extensions.classroom.server.forking import AVAILABLE, ForkedProcess, ForkServer
from workbench.extensions.classroom.server.memory_shares import all_bytes, bytes_of
from workbench.extensions.classroom.server.page_server import OWN_FILES, allow_files
from workbench.process.limits import memory

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="kernels are forked on Linux only")


@pytest.fixture(scope="module")
def running():
    server = ForkServer()
    yield server
    server.close()


def lending(server):
    """What stands for a fork server that others use as well."""

    class Lent:
        fork, process = staticmethod(server.fork), server.process

        def __init__(self, **_options):
            pass

        def close(self):
            pass

    return Lent


@pytest.fixture
def lent(running, monkeypatch):
    """Kernels of all these tests are forked by one server, since it imports for seconds."""

    monkeypatch.setattr("workbench.extensions.classroom.server.kernels.ForkServer", lending(running))


class Ended:
    """In place of a fork server, one that has ended."""

    def fork(self, arguments, env, cwd):
        raise OSError("the fork server has ended")

    def close(self):
        pass


async def answer(client, code):
    """What a kernel prints for code, or the name of the error that it raises."""
    printed = []

    def note(message):
        if message["msg_type"] == "stream":
            printed.append(message["content"]["text"])

    reply = await client.execute_interactive(code, output_hook=note, timeout=LIMIT)
    return "".join(printed).strip() or reply["content"].get("ename", "")


async def eventually(condition):
    """Wait until something is true."""
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


async def opened(kernels, **options):
    """A kernel's manager and a client of it."""
    manager = kernels.get_kernel(await kernels.start_kernel(**options))
    client = manager.client()
    client.start_channels()
    await client.wait_for_ready(timeout=LIMIT)
    return manager, client


def gone(pid):
    """Wait until a process has ended; its parent may not have asked for its status yet."""
    end = time.monotonic() + LIMIT
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        while process.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < end, f"process {pid} is still there"
            time.sleep(0.05)


def run(test, **options):
    """Run a test with kernels of its own, which end with it; returns their processes."""

    async def act():
        kernels = PageKernels(**options)
        try:
            return await test(kernels)
        finally:
            await kernels.shutdown_all(now=True)

    for pid in asyncio.run(act()):
        gone(pid)


def test_kernels_are_forked_with_an_environment_and_a_folder_of_their_own(lent, tmp_path):
    async def test(kernels):
        env = {**os.environ, "QUERY_STRING": "p=1"}
        one, client = await opened(kernels, env=env, cwd=str(tmp_path))
        parents = await answer(client, "import os, sys; print(os.getppid(), 'workbench.live' in sys.modules)")
        assert parents == f"{kernels.forks.process.pid} True"
        assert await answer(client, "print(os.environ['QUERY_STRING'], os.getcwd())") == f"p=1 {tmp_path}"
        other, second = await opened(kernels)
        # Pages of the same problem do not begin at the same random numbers.
        drawn = "import numpy, random; print(numpy.random.random(), random.random())"
        assert await answer(client, drawn) != await answer(second, drawn)
        assert await answer(second, "import os; print('QUERY_STRING' in os.environ)") == "False"
        # Without the comm targets a page would ask for the state of each widget by itself.
        targets = "print('jupyter.widget.control' in get_ipython().kernel.comm_manager.targets)"
        assert await answer(client, targets) == "True"
        pids = [one.provisioner.pid, other.provisioner.pid]
        await kernels.restart_kernel(one.kernel_id)
        await client.wait_for_ready(timeout=LIMIT)
        pids.append(one.provisioner.pid)
        assert len(set(pids)) == 3
        await asyncio.to_thread(gone, pids[0])
        client.stop_channels()
        second.stop_channels()
        return pids

    run(test)


def test_a_kernel_that_was_killed_is_noticed(lent):
    async def test(kernels):
        manager, client = await opened(kernels)
        pid = manager.provisioner.pid
        assert await manager.is_alive()
        psutil.Process(pid).kill()
        assert await manager.provisioner.wait() == -1
        assert not await manager.is_alive()
        client.stop_channels()
        return [pid]

    run(test)


def test_kernels_end_with_the_fork_server(tmp_path):
    server = ForkServer()
    arguments = ["-f", str(tmp_path / "kernel.json")]
    process = server.fork(arguments, dict(os.environ), str(tmp_path))
    assert process.poll() is None
    psutil.Process(server.process.pid).kill()
    gone(process.pid)
    assert process.wait() == -1
    with pytest.raises(OSError, match="has ended"):
        server.fork(arguments, dict(os.environ), str(tmp_path))
    server.close()


def answers(*codes, forks=None, **options):
    """What a new kernel prints for each of these codes. forks: in place of the fork server."""
    found = []

    async def test(kernels):
        if forks is not None:
            kernels.forks.close()
            kernels.forks = forks
        manager, client = await opened(kernels)
        found.extend([await answer(client, code) for code in codes])
        client.stop_channels()
        return [manager.provisioner.pid]

    run(test, **options)
    return found


def test_without_a_fork_server_a_kernel_is_a_process_of_its_own(lent):
    assert answers("import os; print(os.getppid())", forks=Ended()) == [str(os.getpid())]


THREADS = """
import ctypes
import numpy.linalg
path = next(line.split()[-1] for line in open("/proc/self/maps") if "libscipy_openblas64" in line)
print(ctypes.CDLL(path).scipy_openblas_get_num_threads64_())
"""


def test_pages_of_a_class_have_one_thread_of_blas_each(lent):
    server = ForkServer(for_class=True)
    try:
        assert answers(THREADS, forks=lending(server)()) == ["1"]
    finally:
        server.close()


def test_what_pages_share_is_computed_while_none_is_asked_for(monkeypatch):
    """A request comes before the next step."""
    ours, theirs = socket.socketpair()
    done = []

    def steps():
        for k in range(4):
            done.append(k)
            if k == 1:
                ours.sendall(b"{}\n")
            yield
        ours.shutdown(socket.SHUT_WR)

    monkeypatch.setattr(fork_server.os, "fork", lambda: done.append("forked") or 7)
    with ours, theirs:
        assert fork_server.serve(theirs, steps()) is None
        assert ours.recv(100) == b'{"pid": 7}\n'
    assert done == [0, 1, "forked", 2, 3]


FREE = """
import os
from workbench.process.limits import memory
from workbench.extensions.classroom.server.memory_shares import data_bytes
print(memory()[0] - data_bytes(os.getpid()))
"""
TOO_LARGE = """
from workbench.run import Session, configure
session = Session(configure('poisson-2d', n=8192))
session.start(); session.join(); print(session.error)
"""
ENDS = """
from workbench.run import Run, configure, run_through
result = run_through(Run(configure('poisson5', n=64)))
print(result.reason.name, result.detail, result.x.size, result.history.count - result.iterations)
"""
CLUSTER = """
from workbench.run import Run, configure
try:
    Run(configure('poisson-fd', n=8, preconditioner='schwarz:2x2', cluster='tcp://127.0.0.1:9'))
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_kernel_takes_no_more_memory_than_it_may(lent):
    arrays = "import numpy; print(numpy.ones(5 * 10**7).size)", "numpy.ones(10**8)"
    kept, refused, free, said = answers(*arrays, FREE, TOO_LARGE, kernel_memory="600MB")
    assert (kept, refused in ("MemoryError", "_ArrayMemoryError")) == ("50000000", True)
    assert int(free) < 700 * 10**6
    assert "GB free" in said
    assert said.endswith("which fits")


ALLOCATE = "import numpy; kept = numpy.ones({}); print(kept.size)"
REFUSED = ("MemoryError", "_ArrayMemoryError")


def test_pages_take_no_more_memory_together_than_they_may(lent):
    """A page gets its half of what is free, then more when the other one has ended; a third one is refused."""

    async def test(kernels):
        one, first = await opened(kernels)
        assert await answer(first, ALLOCATE.format(5 * 10**7)) == "50000000"
        other, second = await opened(kernels)
        # Of 1 GB, 400 MB and what both pages have of their own are taken.
        assert await answer(second, ALLOCATE.format(5 * 10**7)) in REFUSED
        assert await answer(second, ALLOCATE.format(2 * 10**7)) == "20000000"
        assert await answer(first, ALLOCATE.format(10**8)) in REFUSED
        kernels.memory.divide()
        assert await answer(second, "more = numpy.ones(12 * 10**6); print(more.size)") == "12000000"
        with pytest.raises(HTTPError, match="take the memory that all may take together"):
            await kernels.start_kernel()
        first.stop_channels()
        await kernels.shutdown_kernel(one.kernel_id, now=True)
        kernels.memory.divide()
        assert await answer(second, "kept = numpy.ones(6 * 10**7); print(kept.size)") == "60000000"
        second.stop_channels()
        return [one.provisioner.pid, other.provisioner.pid]

    run(test, all_memory="1GB")


def test_a_page_with_a_turn_has_more_of_the_free_memory(lent):
    async def test(kernels):
        (one, first), (two, second) = await opened(kernels), await opened(kernels)
        said = await answer(first, TAKES_TURN + ALLOCATE.format(45 * 10**6))
        assert said == "45000000"
        assert await answer(second, ALLOCATE.format(3 * 10**7)) in REFUSED
        first.stop_channels()
        second.stop_channels()
        return [one.provisioner.pid, two.provisioner.pid]

    run(test, all_memory="800MB", runs_at_once=1)


TAKES_TURN = """
from workbench.extensions.classroom.page.classroom import classroom
from workbench.run import MACHINE, QueueSlot
room, slot = classroom(), QueueSlot(MACHINE)
slot.acquire(unless=lambda: False)
"""


@pytest.mark.parametrize(("text", "nbytes"), [("", None), ("2GB", 2 * 10**9), ("50%", memory()[0] // 2)])
def test_the_memory_of_all_pages_is_read(text, nbytes):
    assert all_bytes(text) == nbytes


@pytest.mark.parametrize("text", ["0%", "101%", "-5%", "70", "half"])
def test_a_wrong_memory_of_all_pages_is_refused(text):
    with pytest.raises(SystemExit, match="such as 12GB; got|as in 1.5GB; got"):
        PageKernels(all_memory=text)


def test_a_run_ends_at_the_limit_of_its_page_and_a_page_has_no_cluster(lent):
    limit, cluster = answers(ENDS, CLUSTER, run_seconds="1e-9")
    # With its iterate, and a history of the start and each iteration.
    assert re.fullmatch(r"PAGE_TIME .*s of 1e-09 s, which holds for all pages of its server 4096 1", limit)
    assert cluster == "InputError clusters are not available on this page, got tcp://127.0.0.1:9; leave the cluster out"


def test_pages_may_use_a_cluster_where_the_server_says_so(lent):
    asked = "import os; print(os.environ.get('WORKBENCH_CLUSTERS') == 'none')"
    assert [*answers(asked, clusters=True), *answers(asked)] == ["False", "True"]


@pytest.mark.parametrize(("text", "nbytes"), [("1.5GB", 1_500_000_000), (" 800 mb ", 800_000_000)])
def test_sizes_of_memory_are_read(text, nbytes):
    assert bytes_of(text) == nbytes


@pytest.mark.parametrize("text", ["2", "GB", "1TB", "1KB", "-1GB", "10MB"])
def test_a_wrong_size_of_memory_is_refused(text):
    with pytest.raises(InputError, match=r"at least 100MB, with its unit, as in 1.5GB; got"):
        bytes_of(text)
    with pytest.raises(SystemExit, match="got"):
        PageKernels(kernel_memory=text)


@pytest.mark.parametrize("text", ["60s", "nan", "0", "-1"])
def test_a_wrong_time_of_runs_is_refused(text):
    with pytest.raises(SystemExit, match="WORKBENCH_RUN_SECONDS must be seconds above 0"):
        PageKernels(run_seconds=text)


def test_a_page_that_has_gone_makes_room_for_another(lent, monkeypatch):
    async def test(kernels):
        gone = await kernels.start_kernel()
        with pytest.raises(HTTPError, match="this server shows 1 pages at once"):
            await kernels.start_kernel()
        monkeypatch.setattr(module, "AWAY", -1)
        # One that is connected stays.
        kernels.notify_connect(gone)
        with pytest.raises(HTTPError, match="this server shows 1 pages at once"):
            await kernels.start_kernel()
        kernels.notify_disconnect(gone)
        name = await kernels.start_kernel()
        assert kernels.list_kernel_ids() == [name]
        return [kernels.get_kernel(name).provisioner.pid]

    run(test, most_pages=1)


SENDS = """
from comm import create_comm
create_comm("x", data={"large": "x" * 1000})
get_ipython().user_ns["sent"] = True
"""


def test_the_server_reads_states_of_kernels_and_leaves_their_other_messages_to_their_pages(lent):
    async def test(kernels):
        manager, client = await opened(kernels)
        heard = []
        record = manager._activity_stream._recv_callback
        manager._activity_stream.on_recv(lambda parts: heard.append(parts[0]) or record(parts), copy=True)
        assert await answer(client, SENDS + "print(sent)") == "True"
        await eventually(lambda: manager.execution_state == "idle" and len(heard) > 1)
        assert {part.rsplit(b".", 1)[-1] for part in heard} <= {b"status", b"execute_input", b"shutdown"}
        client.stop_channels()
        return [manager.provisioner.pid]

    run(test)


def test_the_time_of_a_page_that_is_away_begins_when_it_goes(lent):
    async def test(kernels):
        name = await kernels.start_kernel()
        manager = kernels.get_kernel(name)
        kernels.notify_connect(name)
        manager.last_activity = datetime.now(UTC) - timedelta(hours=1)
        kernels.notify_disconnect(name)
        assert datetime.now(UTC) - manager.last_activity < timedelta(minutes=30)
        # A kernel that has ended is none.
        await kernels.shutdown_kernel(name, now=True)
        kernels.notify_disconnect(name)
        return [manager.provisioner.pid] if manager.provisioner else []

    run(test)


def test_a_page_that_closes_while_its_kernel_ends_keeps_no_socket(lent):
    async def test(kernels):
        name = await kernels.start_kernel()
        manager = kernels.get_kernel(name)
        pid, channels = manager.provisioner.pid, {"shell": manager.connect_shell()}
        kernels.notify_connect(name)
        ending = asyncio.ensure_future(kernels.shutdown_kernel(name, now=True))
        # The kernel's end begins before the websocket's; Jupyter keeps messages from the last connection's end on.
        await asyncio.sleep(0)
        assert not ending.done()
        kernels.notify_disconnect(name)
        kernels.start_buffering(name, f"{name}:session", channels)
        await ending
        assert channels["shell"].closed()
        assert name not in kernels._kernel_buffers
        return [pid]

    run(test)


def test_pages_that_have_ended_leave_no_logger_and_give_their_memory_back(lent, monkeypatch):
    ended = []
    monkeypatch.setattr(module.HeapTrim, "page_ended", lambda _heap: ended.append(1))

    async def test(kernels):
        pids, known = [], []
        for _ in range(3):
            name = await kernels.start_kernel()
            pids.append(kernels.get_kernel(name).provisioner.pid)
            await kernels.shutdown_kernel(name, now=True)
            # `logging` keeps each by its name until the process ends.
            known.append(len(logging.root.manager.loggerDict))
        assert (len(set(known)), len(ended)) == (1, 3)
        return pids

    module.event_logger()
    run(test)


def test_the_ports_of_a_kernel_are_its_own_before_it_binds_them(lent, monkeypatch):
    """Until then no other program gets them, by its number or as any free port; they are free once it has ended."""
    manager_ports = ("shell_port", "iopub_port", "stdin_port", "hb_port", "control_port")
    found = []

    def bind(port):
        with socket.socket() as other:
            other.bind(("127.0.0.1", port))

    async def pre_launch(provisioner, **kwargs):
        prepared = await before(provisioner, **kwargs)
        found.extend(provisioner.connection_info[name] for name in manager_ports)
        for port in found:
            with pytest.raises(OSError, match="in use"):
                bind(port)
        return prepared

    async def test(kernels):
        manager, client = await opened(kernels)
        assert await answer(client, "print(1)") == "1"
        assert len(set(found)) == 5
        client.stop_channels()
        pid = manager.provisioner.pid
        await kernels.shutdown_kernel(manager.kernel_id, now=True)
        gone(pid)
        for port in found:
            with socket.socket() as other:
                other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                other.bind(("127.0.0.1", port))
                other.listen()
        return [pid]

    before = module.ForkingProvisioner.pre_launch
    monkeypatch.setattr(module.ForkingProvisioner, "pre_launch", pre_launch)
    run(test)


def test_a_server_of_many_pages_sees_the_end_of_a_process():
    """A page has 20 open files in the server, and select knows those below 1024 alone."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2000:
        pytest.skip("no process may open as many files here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2000, hard))
    with contextlib.ExitStack() as opened:
        try:
            for _ in range(1100):
                opened.enter_context(open(os.devnull))
            with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
                seen = ForkedProcess(process.pid)
                assert seen.poll() is None
                process.kill()
                assert seen.wait() == -1
                assert seen.poll() == -1
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(("number", "hard", "soft"), [(500, 1000, 700), (900, 1000, 1000), (0, 1000, 300)])
def test_a_server_may_open_the_files_of_all_its_pages(number, hard, soft):
    """In a process of its own, since a hard limit cannot be raised again."""
    code = (
        "import resource; from workbench.extensions.classroom.server.page_server import allow_files\n"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, (300, {hard})); allow_files({number})\n"
        "print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == [str(soft), str(hard)]


def test_a_system_that_allows_fewer_files_than_it_names_stops_no_server(monkeypatch):
    def refuse(_kind, wanted):
        asked.append(wanted)
        raise ValueError("not allowed to raise maximum limit")

    asked = []
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (256, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    allow_files(2000)
    assert asked == [(2000 + OWN_FILES, resource.RLIM_INFINITY)]


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, ValueError])
def test_a_process_that_cannot_name_the_devices_ends(monkeypatch, error):
    """It is a copy of the fork server, and would go on to serve pages."""

    class Ended(BaseException):
        pass

    def fail():
        raise error

    def end(_status):
        raise Ended

    ends = os.pipe()
    monkeypatch.setattr(os, "pipe", lambda: ends)
    monkeypatch.setattr(os, "fork", lambda: 0)
    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(devices, "names", fail)
    with pytest.raises(Ended):
        fork_server.names_of_devices()
    for each in ends:
        os.close(each)


def test_kernels_of_pages_keep_no_history_in_a_file(lent):
    assert answers("print(get_ipython().history_manager.enabled)") == ["False"]


@pytest.mark.parametrize(("options", "seconds"), [({}, 120), ({"classroom": True}, 1800)])
def test_a_class_keeps_pages_that_are_away_for_half_an_hour(lent, options, seconds):
    assert PageKernels(**options).cull_idle_timeout == seconds


def test_pages_that_open_at_once_are_counted(lent):
    async def test(kernels):
        started = await asyncio.gather(*(kernels.start_kernel() for _ in range(3)), return_exceptions=True)
        names = [name for name in started if isinstance(name, str)]
        assert len(names) == 1
        return [kernels.get_kernel(names[0]).provisioner.pid]

    run(test, most_pages=1)


def test_a_kernel_that_dies_is_not_started_again(lent, monkeypatch):
    monkeypatch.setattr(module.NoRestart, "time_to_dead", 0.05)

    async def test(kernels):
        (manager, client) = await opened(kernels)
        pid = manager.provisioner.pid
        os.kill(pid, signal.SIGKILL)
        # Its page is answered that there is no such kernel.
        await eventually(lambda: not kernels.list_kernel_ids())
        client.stop_channels()
        return [pid]

    run(test)


def test_pages_know_the_devices_of_the_machine_and_have_not_asked_for_them(lent):
    async def test(kernels):
        manager, client = await opened(kernels)
        found = await answer(client, "from workbench import devices; import sys; print(*devices.names())")
        assert found.split() == list(devices.names())
        assert await answer(client, 'print("pyopencl" in sys.modules)') == "False"
        client.stop_channels()
        return [manager.provisioner.pid]

    run(test)
