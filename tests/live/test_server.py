"""The connection that the project's own servers use."""

from types import SimpleNamespace

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection

from workbench.server import PromptConnection


def test_messages_are_sent_at_once_from_the_beginning(monkeypatch):
    done = []
    monkeypatch.setattr(ZMQChannelsWebsocketConnection, "connect", lambda self: done.append("connected") or "future")
    monkeypatch.setattr(
        PromptConnection, "websocket_handler", SimpleNamespace(set_nodelay=lambda value: done.append(value))
    )
    assert PromptConnection.__new__(PromptConnection).connect() == "future"
    assert done == [True, "connected"]
