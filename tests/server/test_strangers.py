"""Real servers against what strangers send: malformed messages, foreign names of hosts, odd addresses."""

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

from tests.browser import lab
from tests.waiting import LIMIT
from workbench.server.framing import MOST_HEADER, MOST_JSON, MOST_PARTS, V1
from workbench.server.page_server import PageServer

PARTS = 6
"""Channel, header, parent header, metadata, content, and the end of the last."""
GROWTH = 80 << 20
"""Bytes by which the server may grow meanwhile. The first message of 8 bytes took more than that each second."""
HEADER = {"msg_id": "1", "msg_type": "kernel_info_request", "session": "s", "username": "u", "version": "5.3"}
HEADER["date"] = "2026-01-01T00:00:00Z"
REQUEST = {"header": HEADER, "parent_header": {}, "metadata": {}, "content": {}, "channel": "shell"}
NESTED = b"[" * 100_000 + b"]" * 100_000


def v1(*parts, count=None, offsets=None):
    """A message of the first protocol; count and offsets in place of those that it has."""
    true = [8 * (len(parts) + 2)]
    for part in parts:
        true.append(true[-1] + len(part))
    offsets = true if offsets is None else offsets
    numbers = (len(true) if count is None else count, *offsets)
    return struct.pack(f"<{len(numbers)}Q", *numbers) + b"".join(parts)


def request_v1(**changed):
    """The parts of a request, some of them changed."""
    # A kernel takes no message twice.
    parts = {"channel": b"shell", "header": json.dumps(HEADER | {"msg_id": uuid.uuid4().hex}).encode()}
    parts |= dict.fromkeys(("parent_header", "metadata", "content"), b"{}")
    return [*(parts | changed).values()]


def legacy(*parts, count=None, offsets=None):
    """A binary message of the legacy protocol."""
    true = [4 * (len(parts) + 1)]
    for part in parts[:-1]:
        true.append(true[-1] + len(part))
    offsets = true if offsets is None else offsets
    numbers = (len(true) if count is None else count, *offsets)
    return struct.pack(f"!{len(numbers)}I", *numbers) + b"".join(parts)


def malformed_v1():
    """Messages with wrong values of each field."""
    parts = request_v1()
    good = v1(*parts)
    true = list(struct.unpack_from(f"<{PARTS}Q", good, 8))
    size = len(good)
    yield from (b"", b"\0", b"\xff" * 50, struct.pack("<Q", 2**40), struct.pack("<Q", 2**64 - 1), struct.pack("<Q", 0))
    yield from (good[:-3], good[:20], good[: true[0]])
    for count in (0, 1, 2, PARTS - 1, PARTS + 1, 2**31, 2**40, 2**63, 2**64 - 1):
        yield v1(*parts, count=count)
    for place in range(PARTS):
        for value in (0, 1, true[place] - 40, size + 1, 2**31, 2**63, 2**64 - 1):
            wrong = [*true[:place], max(0, value), *true[place + 1 :]]
            if wrong != true and not (place == PARTS - 1 and value <= size and value >= true[-2]):
                yield v1(*parts, offsets=wrong)
    # Each pair of offsets would copy a message of megabytes.
    long = 1 << 20
    yield struct.pack("<Q", long // 8) + struct.pack("<QQ", 0, long) * (long // 16) + b"x" * long
    yield struct.pack(f"<{MOST_PARTS + 2}Q", MOST_PARTS + 1, *[8 * (MOST_PARTS + 2)] * (MOST_PARTS + 1))
    for header in (b"", b"{", b"[]", b"{}", b"5", b"null", b"\xff\xfe", NESTED, b'{"msg_type": []}', b"9" * 5000):
        yield v1(*request_v1(header=header))
    yield v1(*request_v1(header=b'{"msg_type": "' + b"x" * MOST_HEADER + b'"}'))
    yield v1(*request_v1(channel=b"\xff\xff"))
    yield v1(*request_v1(channel=b"iopub"))
    # The kernel has to read these.
    for name in ("parent_header", "metadata", "content"):
        for part in (b"", b"{", b"[]", b"\xff\xfe", NESTED, b"9" * 5000):
            yield v1(*request_v1(**{name: part}))
    yield good.decode("latin-1")
    yield json.dumps(REQUEST)


def malformed_legacy():
    """The same for the legacy protocol, whose texts are JSON."""
    body = json.dumps(REQUEST).encode()
    good = legacy(body, b"buffer")
    yield from (b"", b"\0", b"\xff" * 50, struct.pack("!i", 2**31 - 1), struct.pack("!i", -5), struct.pack("!I", 0))
    yield from (good[:6], good[:30])
    for count in (0, 3, 2**20, 2**31 - 1, 2**31, 2**32 - 1):
        yield legacy(body, b"buffer", count=count)
    for offsets in ((0, 4), (12, 5), (12, len(good) + 1), (2**32 - 1, 2**32 - 1), (len(good), 12)):
        yield legacy(body, b"buffer", offsets=offsets)
    yield struct.pack("!I", 1 << 18) + struct.pack("!II", 0, 1 << 20) * (1 << 17)
    for text in (b"", b"{", b"[]", b"{}", b"5", b"null", b"\xff\xfe", NESTED, b"9" * 5000, b'{"channel": []}'):
        yield legacy(text)
        if text != b"\xff\xfe":
            yield text.decode()
    for name in ("header", "parent_header", "metadata", "content"):
        for value in (None, 5, [], "x"):
            yield json.dumps(REQUEST | {name: value})
    for buffers in (5, "text", [5], ["text"], {"a": 1}, None):
        yield json.dumps(REQUEST | {"buffers": buffers})
    yield json.dumps({name: part for name, part in REQUEST.items() if name != "header"})
    yield json.dumps(REQUEST | {"content": "x" * MOST_JSON})
    yield legacy(json.dumps(REQUEST | {"content": "x" * MOST_JSON}).encode(), b"buffer")
    for channel in ("nowhere", "", 5, {}, None, "iopub"):
        yield json.dumps(REQUEST | {"channel": channel})


ALL = {V1: malformed_v1, None: malformed_legacy}


def connection(url, kernel, protocol, session=None, **options):
    """A websocket to a kernel, as a page has."""
    address = f"{url.replace('http', 'ws')}/api/kernels/{kernel}/channels?session_id={session or uuid.uuid4().hex}"
    protocols = [protocol] if protocol else None
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
    (found,) = (p for p in psutil.Process().children() if any(str(folder) in part for part in p.cmdline()))
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


# Both programs have the same connection; one protocol in JupyterLab shows that it is in place.
@pytest.mark.parametrize(
    ("program", "protocol"),
    [
        pytest.param("app", V1, id="app-v1"),
        pytest.param("app", None, id="app-legacy"),
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


TO_OUTPUT = v1(*request_v1(channel=b"iopub"))


@pytest.mark.parametrize(("protocol", "message"), [(V1, TO_OUTPUT), (None, "[" * MOST_JSON * 2)])
def test_what_would_stay_in_memory_closes_the_connection(protocol, message, app):
    """A kernel's output channel is never written to, and all JSON of the legacy protocol is parsed by the server."""
    url, _, kernel = app
    socket = connection(url, kernel, protocol)
    send(socket, message)
    while (frame := socket.recv_data(control_frame=True))[0] != websocket.ABNF.OPCODE_CLOSE:
        pass
    assert struct.unpack("!H", frame[1][:2]) == (1007,)
    assert replies(url, kernel)


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
