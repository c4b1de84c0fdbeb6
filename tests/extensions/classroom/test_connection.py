"""The websocket and the XSRF hook of the Jupyter servers."""

from types import SimpleNamespace

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from tornado.httputil import HTTPConnection, HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketClosedError

from tests.extensions.classroom.messages import legacy, request_v1, v1
from workbench.extensions.classroom.server import NoDelayConnection, PageConnection, set_xsrf_cookie
from workbench.extensions.classroom.server.framing import V1


def test_nagles_algorithm_is_off_before_connecting(monkeypatch):
    done = []
    monkeypatch.setattr(ZMQChannelsWebsocketConnection, "connect", lambda self: done.append("connected") or "future")
    monkeypatch.setattr(
        NoDelayConnection, "websocket_handler", SimpleNamespace(set_nodelay=lambda value: done.append(value))
    )
    assert NoDelayConnection.__new__(NoDelayConnection).connect() == "future"
    assert done == [True, "connected"]


def test_the_xsrf_cookie_of_a_page_is_set():
    start = RequestStartLine("GET", "/", "HTTP/1.1")
    request = HTTPServerRequest(
        start_line=start, headers=HTTPHeaders({"Host": "localhost"}), connection=HTTPConnection()
    )
    request.connection.set_close_callback = lambda callback: None
    handler = RequestHandler(Application(), request)
    set_xsrf_cookie(handler, notebook={}, cwd="")
    assert handler._new_cookie["_xsrf"].value


def connection_of(kind, monkeypatch, at):
    """A connection whose websocket is `at`, None once it has closed, and what is written to it."""
    written = []
    handler = SimpleNamespace(ws_connection=at, write_message=lambda message, binary: written.append(message))
    monkeypatch.setattr(kind, "websocket_handler", handler)
    made = kind.__new__(kind)
    return made, written, handler


def test_a_page_that_has_closed_keeps_its_protocol_and_is_sent_nothing(monkeypatch):
    """Jupyter has no protocol then and makes a legacy message, whose first bytes Voila reads as 10^17 offsets."""
    page, written, _ = connection_of(PageConnection, monkeypatch, None)
    assert page.subprotocol == V1
    page.write_message(v1(*request_v1(), b"picture"), binary=True)
    assert written == []


def test_a_message_that_is_none_of_the_protocol_does_not_leave(monkeypatch):
    page, written, _ = connection_of(PageConnection, monkeypatch, SimpleNamespace(selected_subprotocol=V1))
    monkeypatch.setattr(PageConnection, "kernel_id", "k")
    monkeypatch.setattr(PageConnection, "log", SimpleNamespace(error=lambda *_: None))
    good = v1(*request_v1(), b"picture")
    for message in (legacy(b"{}", b"picture"), good[:-9], "{}", good):
        page.write_message(message, binary=True)
    assert written == [good]


def test_a_connection_of_jupyterlab_keeps_its_protocol_when_it_has_closed(monkeypatch):
    for protocol in (V1, None):
        lab, _, handler = connection_of(NoDelayConnection, monkeypatch, SimpleNamespace(selected_subprotocol=protocol))
        assert lab.subprotocol == protocol
        handler.ws_connection = None
        assert lab.subprotocol == protocol


def test_a_message_of_the_kernel_to_a_page_that_has_closed_is_left_out(monkeypatch):
    """Jupyter raises from the callback of the kernel's socket; the page may close between two messages."""
    sent = []

    def closed(self, stream, message):
        sent.append(message)
        raise WebSocketClosedError

    monkeypatch.setattr(ZMQChannelsWebsocketConnection, "handle_outgoing_message", closed)
    NoDelayConnection.__new__(NoDelayConnection).handle_outgoing_message("iopub", [b"one"])
    assert sent == [[b"one"]]
