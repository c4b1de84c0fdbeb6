"""The connection that the project's own servers use."""

from types import SimpleNamespace

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from tornado.httputil import HTTPConnection, HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.web import Application, RequestHandler

from workbench.server import PromptConnection, give_token


def test_messages_are_sent_at_once_from_the_beginning(monkeypatch):
    done = []
    monkeypatch.setattr(ZMQChannelsWebsocketConnection, "connect", lambda self: done.append("connected") or "future")
    monkeypatch.setattr(
        PromptConnection, "websocket_handler", SimpleNamespace(set_nodelay=lambda value: done.append(value))
    )
    assert PromptConnection.__new__(PromptConnection).connect() == "future"
    assert done == [True, "connected"]


def test_a_page_is_given_the_token_that_its_last_request_must_bring():
    start = RequestStartLine("GET", "/", "HTTP/1.1")
    request = HTTPServerRequest(
        start_line=start, headers=HTTPHeaders({"Host": "localhost"}), connection=HTTPConnection()
    )
    request.connection.set_close_callback = lambda callback: None
    handler = RequestHandler(Application(), request)
    give_token(handler, notebook={}, cwd="")
    assert handler._new_cookie["_xsrf"].value
