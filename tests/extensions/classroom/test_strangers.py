"""Real servers against what strangers send: malformed messages, foreign names of hosts, odd addresses."""

import contextlib
import http.client
import json
import re
import struct
import urllib.request
import uuid
from urllib.parse import urlsplit

import psutil
import pytest
import websocket
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from benchmarks.classroom.processes import arguments_of
from tests.browser import lab
from tests.extensions.classroom.messages import HEADER, REQUEST, malformed_legacy, malformed_v1, picture, request_v1, v1
from tests.waiting import LIMIT, until
from workbench.extensions.classroom.server import PageKernels
from workbench.extensions.classroom.server.framing import MOST_JSON, V1
from workbench.extensions.classroom.server.page_connection import MOST_UNREAD, ONLY_V1
from workbench.extensions.classroom.server.page_server import FILES_OF_A_PAGE, PageServer

GROWTH = 80 << 20
"""Bytes by which the server may grow meanwhile. The first message of 8 bytes took more than that each second."""


ALL = {V1: malformed_v1, None: malformed_legacy}


def connection(url, kernel, protocols, session=None, **options):
    """A websocket to a kernel, as a page has. protocols: one or several that it offers."""
    address = f"{url.replace('http', 'ws')}/api/kernels/{kernel}/channels?session_id={session or uuid.uuid4().hex}"
    protocols = [protocols] if isinstance(protocols, str) else protocols
    return websocket.create_connection(address, subprotocols=protocols, timeout=LIMIT, **options)


def send(socket, message):
    """Send a message as the kind of frame that it is."""
    socket.send(message, websocket.ABNF.OPCODE_TEXT if isinstance(message, str) else websocket.ABNF.OPCODE_BINARY)


def answers(url, path="/", **headers):
    """Status and text of an address."""
    place = urlsplit(url)
    asked = http.client.HTTPConnection(place.hostname, place.port, timeout=LIMIT)
    try:
        asked.request("GET", path, headers=headers)
        reply = asked.getresponse()
        return reply.status, reply.read().decode("utf-8", errors="replace")
    finally:
        asked.close()


def replies(url, kernel):
    """Whether a kernel answers a request, through the server."""
    socket = connection(url, kernel, V1)
    try:
        socket.send_binary(v1(*request_v1()))
        while b"kernel_info_reply" not in socket.recv():
            pass
        return True
    finally:
        socket.close()


def server_of(folder):
    """The process of the server that runs in a folder."""
    (found,) = (one for one in psutil.Process().children() if any(str(folder) in part for part in arguments_of(one)))
    return found


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """The page of `make app`: its URL, its folder, and the kernel of a page."""
    folder = tmp_path_factory.mktemp("app")
    options = ("--MappingKernelManager.cull_idle_timeout=0", "--PageKernels.most_pages=1")
    with lab.voila_server(folder, *options) as url:
        page = answers(url, f"/{lab.WORKBENCH}")[1]
        yield url, folder, re.search(r'"kernelId":\s*"([0-9a-f-]+)"', page)[1]


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    """JupyterLab with one kernel."""
    folder = tmp_path_factory.mktemp("lab")
    with lab.lab_server(folder) as url:
        cookies = urllib.request.HTTPCookieProcessor()
        opener = urllib.request.build_opener(cookies)
        opener.open(f"{url}/lab").close()
        (token,) = (cookie.value for cookie in cookies.cookiejar if cookie.name == "_xsrf")
        asked = urllib.request.Request(f"{url}/api/kernels", b"{}", {"X-XSRFToken": token}, method="POST")
        with opener.open(asked) as made:
            yield url, folder, json.load(made)["id"]


# Pages have one protocol; one in JupyterLab shows that its connection checks messages too.
@pytest.mark.parametrize(
    ("program", "protocol"),
    [
        pytest.param("app", V1, id="app-v1"),
        pytest.param("notebooks", V1, id="notebooks-v1", marks=pytest.mark.slow),
        pytest.param("notebooks", None, id="notebooks-legacy"),
    ],
)
def test_malformed_messages_stop_nothing_and_take_no_memory(program, protocol, request):
    url, folder, kernel = request.getfixturevalue(program)
    process = server_of(folder)
    assert replies(url, kernel)
    before = process.memory_info().rss
    for message in ALL[protocol]():
        socket = connection(url, kernel, protocol)
        send(socket, message)
        assert answers(url, "/voila/static/none")[0] in (403, 404), message[:80]
        socket.close()
    assert process.memory_info().rss < before + GROWTH
    assert replies(url, kernel)
    log = (folder / "server.log").read_text(encoding="utf-8", errors="replace")
    assert "Uncaught exception" not in log


@pytest.mark.parametrize(
    ("program", "protocol", "message"),
    [("app", V1, v1(*request_v1(channel=b"iopub"))), ("notebooks", None, "[" * MOST_JSON * 2)],
    ids=["app-v1", "notebooks-legacy"],
)
def test_what_would_stay_in_memory_closes_the_connection(program, protocol, message, request):
    """A kernel's output channel is never written to, and all JSON of the legacy protocol is parsed by the server."""
    url, _, kernel = request.getfixturevalue(program)
    socket = connection(url, kernel, protocol)
    send(socket, message)
    while (frame := socket.recv_data(control_frame=True))[0] != websocket.ABNF.OPCODE_CLOSE:
        pass
    assert struct.unpack("!H", frame[1][:2]) == (1007,)
    assert replies(url, kernel)


OFFERS = [None, [""], ["legacy"], [V1.upper()], [f"{V1}x"], [V1[:-1]], [f"{V1};q=1"], ["v0"] * 5000]


@pytest.mark.parametrize("offered", OFFERS, ids=lambda offered: str(offered)[:40])
def test_a_page_without_the_protocol_is_refused_in_a_sentence(offered, app):
    """Voila would read its first message with buffers for ever, and answer no one."""
    url, folder, kernel = app
    before = server_of(folder).memory_info().rss
    with pytest.raises(websocket.WebSocketBadStatusException, match=f"400 {ONLY_V1}"):
        make_binary(url, kernel, offered)
    assert answers(url)[0] == 200
    assert replies(url, kernel)
    assert server_of(folder).memory_info().rss < before + GROWTH


@pytest.mark.parametrize("offered", [[V1], ["other", V1], [V1] * 1500, ["v0"] * 1500 + [V1]], ids=len)
def test_a_page_with_the_protocol_among_others_gets_binary_messages(offered, app):
    url, _, kernel = app
    socket, comm = make_binary(url, kernel, offered)
    assert answers(url)[0] == 200
    until(lambda: comm.encode() in socket.recv())
    socket.close()


def test_a_legacy_client_of_jupyterlab_gets_binary_messages(notebooks):
    """Whoever reaches JupyterLab has its token, and its server reads what leaves by the protocol that it has."""
    url, _, kernel = notebooks
    socket = connection(url, kernel, None)
    code = {"code": "import ipywidgets; ipywidgets.Image(value=b'of nine..')", "silent": False}
    socket.send(json.dumps(REQUEST | {"header": HEADER | {"msg_type": "execute_request"}, "content": code}))
    until(lambda: isinstance(message := socket.recv(), bytes) and message.endswith(b"of nine.."))
    assert answers(url, "/api")[0] == 200
    socket.close()


def make_binary(url, kernel, offered):
    """A connection, on which the kernel has been asked for a message with buffers, and what is in that message."""
    socket = connection(url, kernel, offered)
    made, ask, comm = picture(9)
    for message in (made, ask()):
        socket.send_binary(message)
    return socket, comm


MB = 1 << 20
KEPT = MOST_UNREAD + 2 * GROWTH
"""Bytes by which the server may grow where it keeps what nobody reads."""
TIMES = 2 * KEPT // (8 * MB)
"""Messages of 8 MB that are twice as much."""
ENDED = (websocket.WebSocketConnectionClosedException, ConnectionError)


def receive_all(socket):
    """Receive until the connection ends."""
    while True:
        socket.recv()


def test_a_server_may_have_the_files_of_all_its_pages(app):
    _, folder, _ = app
    soft, hard = server_of(folder).rlimit(psutil.RLIMIT_NOFILE)
    assert soft >= min(FILES_OF_A_PAGE * PageKernels().most_pages, hard)


def test_a_page_that_does_not_read_is_disconnected(app):
    """Another one gets the same messages meanwhile."""
    url, folder, kernel = app
    process = server_of(folder)
    reader, deaf = connection(url, kernel, V1), connection(url, kernel, V1)
    made, ask, comm = picture(8 * MB)
    before, most = process.memory_info().rss, 0
    reader.send_binary(made)
    for _ in range(TIMES):
        reader.send_binary(ask())
        until(lambda: comm.encode() in (message := reader.recv()) and len(message) > 8 * MB)
        most = max(most, process.memory_info().rss)
    assert most < before + KEPT
    with pytest.raises(ENDED):
        receive_all(deaf)
    reader.close()
    assert replies(url, kernel)


def test_what_a_kernel_sends_while_no_page_is_there_is_bounded(app):
    url, folder, kernel = app
    process = server_of(folder)
    before = process.memory_info().rss
    socket = connection(url, kernel, V1)
    made, ask, _ = picture(8 * MB)
    socket.send_binary(made)
    for _ in range(TIMES):
        socket.send_binary(ask())
    socket.close()
    log = folder / "server.log"
    until(lambda: "is kept no longer" in log.read_text(encoding="utf-8", errors="replace"))
    assert process.memory_info().rss < before + KEPT
    assert replies(url, kernel)


def test_what_waits_for_a_kernel_that_does_not_read_is_bounded(app):
    url, folder, kernel = app
    process = server_of(folder)
    # Below the server of forks, where there is one.
    (stopped,) = (child for child in process.children(recursive=True) if not child.children())
    socket = connection(url, kernel, V1)
    message = v1(*request_v1("comm_msg"), bytes(8 * MB))
    sizes = [process.memory_info().rss]

    stopped.suspend()
    try:
        with contextlib.suppress(*ENDED):
            for _ in range(TIMES):
                socket.send_binary(message)
                sizes.append(process.memory_info().rss)
        with pytest.raises(ENDED):
            receive_all(socket)
        assert max(sizes) < sizes[0] + KEPT
        assert answers(url)[0] == 200
    finally:
        stopped.resume()
    assert replies(url, kernel)


def test_a_visitor_executes_nothing_and_is_not_told_of_other_kernels(app):
    url, folder, kernel = app
    made = folder / "made"
    socket = connection(url, kernel, V1)
    for kind in ("execute_request", "complete_request", "inspect_request", "debug_request"):
        code = {"code": f"open({str(made)!r}, 'w')", "cursor_pos": 0, "silent": True}
        socket.send_binary(v1(*request_v1(kind, content=json.dumps(code).encode())))
    socket.send_binary(v1(*request_v1()))
    replied = []
    until(lambda: replied.append(socket.recv()) or b"kernel_info_reply" in replied[-1])
    assert not [message for message in replied if b"_reply" in message and b"kernel_info_reply" not in message]
    assert not made.exists()
    status, text = answers(url, "/api/kernels")
    assert (status == 200, kernel in text) == (False, False)
    socket.close()


def test_kernels_end_with_a_server_that_is_killed(tmp_path):
    with lab.voila_server(tmp_path) as url:
        page = answers(url, f"/{lab.WORKBENCH}")[1]
        assert replies(url, re.search(r'"kernelId":\s*"([0-9a-f-]+)"', page)[1])
        server = server_of(tmp_path)
        below = server.children(recursive=True)
        # The server of forks and a page's kernel, at least.
        assert len(below) >= 2
        server.kill()
        assert psutil.wait_procs(below, LIMIT)[1] == []


def test_another_site_may_link_and_not_load(app):
    url = app[0]
    foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
    assert answers(url, "/voila/static/none", **foreign)[0] == 403
    assert "in the background" in answers(url, f"/{lab.WORKBENCH}", **foreign)[1]
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert "in the background" not in answers(url, f"/{lab.WORKBENCH}", **link)[1]


def test_one_page_more_than_are_served_is_told_to_wait(app):
    url, _, kernel = app
    status, text = answers(url, f"/{lab.WORKBENCH}")
    assert (status, "this server shows 1 pages at once, and as many are open" in text) == (503, True)
    # An address chooses no template, which would be any that is installed.
    for query in ("template=reveal", "template=../../x", "theme=dark"):
        assert answers(url, f"/{lab.WORKBENCH}&{query}") == (status, text)
    # The start page needs no kernel.
    assert answers(url)[0] == 200
    assert replies(url, kernel)


@pytest.mark.parametrize("session", ["x" * 300, "a%20b"])
def test_names_of_sessions_that_are_none_are_refused(session, app):
    url, _, kernel = app
    with pytest.raises(websocket.WebSocketBadStatusException, match="400"):
        connection(url, kernel, V1, session)
    assert replies(url, kernel)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "10.0.0.1", "localhost.evil.example", "127.0.0.1.evil"]
)
def test_a_page_for_this_machine_is_given_to_no_other_name(host, app):
    """A site whose name is made to lead to this machine would else open pages, and talk to their kernels."""
    url, _, kernel = app
    for path in ("/", "/voila/static/voila.js", f"/api/kernels/{kernel}", "/voila/files/a.png"):
        status, text = answers(url, path, Host=host)
        assert (status, text.startswith("this server listens on its own machine only")) == (403, True)
    with pytest.raises(websocket.WebSocketBadStatusException, match="403"):
        connection(url, kernel, V1, host=host, origin=f"http://{host}")


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8866", "127.0.0.1", "127.0.0.2:1", "[::1]:8866", "localhost."]
)
def test_a_page_for_this_machine_is_given_to_its_own_names(host, app):
    url, _, kernel = app
    assert answers(url, "/voila/static/none", Host=host)[0] == 403
    connection(url, kernel, V1, host=host, origin=f"http://{host}").close()


@pytest.mark.parametrize(
    "path", ["/logout", "/voila/templates/..", "/voila/templates/../../x", "/%00", "/voila/files/%00"]
)
def test_addresses_that_name_nothing(path, app):
    assert answers(app[0], path) == (404, "there is nothing at this address\n")


@pytest.mark.parametrize(
    ("options", "refused"), [({}, True), ({"hosts": ["Work.Example"]}, False), ({"ip": "0.0.0.0"}, False)], ids=str
)
def test_names_of_proxies_and_public_addresses_are_served(options, refused):
    start, headers = RequestStartLine("GET", "/", "HTTP/1.1"), HTTPHeaders({"Host": "work.example:80"})
    asked = HTTPServerRequest(start_line=start, headers=headers)
    rules = PageServer(server_url="/", **options).refusals()
    assert any(rule.matcher.match(asked) is not None for rule in rules) is refused
