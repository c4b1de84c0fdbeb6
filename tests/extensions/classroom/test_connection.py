"""The websocket and the XSRF hook of the Jupyter servers."""

from types import SimpleNamespace

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from tornado.httputil import HTTPConnection, HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.web import Application, RequestHandler

from workbench.extensions.classroom.server import NoDelayConnection, set_xsrf_cookie


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
