"""A page on another machine: a light client that receives the messages of a page, acknowledges them, and paints
nothing.

It communicates with the kernel through the Jupyter server, as JupyterLab does, so that the server's share is included.
"""

from __future__ import annotations

import ast
import json
import struct
import time
import urllib.request
import uuid
from pathlib import Path
from typing import Any

import websocket

from benchmarks.live_view import rounds
from benchmarks.live_view.page import LIMIT_SECONDS

AT_ONCE, TOGETHER = 36, 12.0
"""Messages after which an acknowledgement is sent at once, and seconds after which it is sent for fewer: as in
static/transport/link.js."""


class Client:
    """One connection to the kernel. It acknowledges for the canvases whose models it receives."""

    def __init__(self, url: str, kernel: str) -> None:
        address = f"{url.replace('http', 'ws', 1)}/api/kernels/{kernel}/channels"
        self._socket = websocket.create_connection(address, timeout=0.5)
        self._session = uuid.uuid4().hex
        self._canvases: dict[str, _Canvas] = {}
        self.messages = self.bytes = 0

    def run(self, code: str, expression: str = "None") -> Any:
        """Run a line and return the value of an expression after it, a plain value."""
        asked = {"code": code, "silent": False, "store_history": False, "user_expressions": {"it": expression}}
        number = self._send("shell", "execute_request", {**asked, "allow_stdin": False, "stop_on_error": True})
        end = time.monotonic() + 60
        while time.monotonic() < end:
            message = self.listen()
            if message and message["parent_header"].get("msg_id") == number and message["channel"] == "shell":
                content = message["content"]
                if content["status"] != "ok":
                    raise RuntimeError(f"the kernel says {content['ename']}: {content['evalue']}")
                return ast.literal_eval(content["user_expressions"]["it"]["data"]["text/plain"])
        raise TimeoutError("the kernel did not answer within 60 s")

    def watch(self, model: str) -> None:
        """Act as the page of one canvas."""
        self._canvases[model] = _Canvas()
        self._say(model, {"kind": "ready"})

    def listen(self) -> dict[str, Any] | None:
        """Receive one message and acknowledge what is due; None if none came for half a second."""
        try:
            raw = self._socket.recv()
        except websocket.WebSocketTimeoutException:
            raw = b""
        self.bytes += len(raw)
        message = _parsed(raw) if raw else None
        if message and message["header"]["msg_type"] == "comm_msg":
            canvas = self._canvases.get(message["content"]["comm_id"])
            data = message["content"]["data"]
            if canvas and data.get("method") == "custom":
                self.messages += 1
                canvas.take(int(data["content"]["seq"]))
        for model, canvas in self._canvases.items():
            seq = canvas.due()
            if seq is not None:
                self._say(model, {"kind": "ack", "seq": seq})
        return message

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _say(self, model: str, content: dict[str, Any]) -> None:
        self._send("shell", "comm_msg", {"comm_id": model, "data": {"method": "custom", "content": content}})

    def _send(self, channel: str, kind: str, content: dict[str, Any]) -> str:
        number = uuid.uuid4().hex
        header = {"msg_id": number, "msg_type": kind, "session": self._session, "username": "", "version": "5.3"}
        rest = {"parent_header": {}, "metadata": {}, "buffers": [], "channel": channel}
        self._socket.send(json.dumps({"header": {**header, "date": ""}, "content": content, **rest}))
        return number


class _Canvas:
    """Messages of one canvas received, and acknowledged."""

    def __init__(self) -> None:
        self._done = self._acknowledged = 0
        self._next = 0.0

    def take(self, seq: int) -> None:
        self._done = max(self._done, seq)

    def due(self) -> int | None:
        """Acknowledgements that are due now, for all canvases at the same multiples of the period."""
        waiting, now = self._done - self._acknowledged, time.monotonic()
        if waiting >= AT_ONCE or (waiting and now >= self._next):
            self._acknowledged = self._done
            self._next = (now // TOGETHER + 1) * TOGETHER
            return self._done
        return None


def watched_from_elsewhere(url: str, home: Path, count: int, quantity: str) -> dict[str, Any]:
    """Rounds in the kernel without its page, and what the client received in the page's place. quantity: what the
    field shows."""
    with urllib.request.urlopen(f"{url}/api/kernels", timeout=10) as answer:
        (kernel,) = json.load(answer)
    client = Client(url, kernel["id"])
    try:
        for model in client.run("pass", "[explorer.convergence.model_id, explorer.field.model_id]"):
            client.watch(model)
        client.run(f"explorer.field.quantity = {quantity!r}")
        file = home / "elsewhere.json"
        file.unlink(missing_ok=True)
        client.run(f"rounds.begin(explorer, {count}, {file.name!r})")
        begun, cpu = time.monotonic(), time.process_time()
        while not file.exists():
            if time.monotonic() - begun > LIMIT_SECONDS:
                raise TimeoutError(f"the kernel made no {count} rounds in {LIMIT_SECONDS} s")
            client.listen()
        passed = time.monotonic() - begun
        told = {
            "messages_per_second": client.messages / passed,
            "bytes_per_second": client.bytes / passed,
            "cpu_share_of_a_core": (time.process_time() - cpu) / passed,
        }
        return {"rounds": rounds.read(file), "client": told}
    finally:
        client.close()


def _parsed(raw: str | bytes) -> dict[str, Any]:
    """A message without its buffers. One with buffers begins with their number and offsets."""
    if isinstance(raw, str):
        return json.loads(raw)
    (parts,) = struct.unpack_from("!I", raw)
    places = [*struct.unpack_from(f"!{parts}I", raw, 4), len(raw)]
    return json.loads(raw[places[0] : places[1]])
