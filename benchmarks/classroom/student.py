"""A simulated student: opens a lesson as a page of Voila does, without drawing, and answers its exercises."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import struct
import time
import uuid
from collections.abc import Callable

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

V1 = "v1.kernel.websocket.jupyter.org"
PATIENCE = 600.0
"""Seconds until a student gives up."""
KERNEL = re.compile(r'"kernelId":\s*"([0-9a-f-]+)"')
State = dict[str, object]


class Student:
    """A page of one lesson. widgets: the states of its widgets by the names of their models."""

    def __init__(self, url: str, lesson: str) -> None:
        self.url, self.lesson = url, lesson
        self.widgets: dict[str, State] = {}
        self.kernel, self.token = "", ""
        self._socket: WebSocketClientConnection | None = None
        self._reading: asyncio.Task[None] | None = None
        self._changed = asyncio.Condition()
        self._sent: set[asyncio.Future[None]] = set()

    async def open(self) -> float:
        """Load the page and its widgets; returns the seconds until all is there."""
        begun = time.monotonic()
        asked = HTTPRequest(f"{self.url}/lesson/{self.lesson}", request_timeout=PATIENCE, connect_timeout=PATIENCE)
        answer = await AsyncHTTPClient(max_clients=1000).fetch(asked)
        found = KERNEL.search(answer.body.decode())
        if found is None:
            raise RuntimeError(f"a page without a kernel: {answer.body[:200]!r}")
        self.kernel = found[1]
        for cookie in answer.headers.get_list("Set-Cookie"):
            if cookie.startswith("_xsrf="):
                self.token = cookie.partition("=")[2].partition(";")[0]
        await self.connect()
        return time.monotonic() - begun

    async def connect(self) -> None:
        """Connect to the kernel and ask for all widgets. Raises OSError and HTTPError where it has ended."""
        address = f"{self.url.replace('http', 'ws')}/api/kernels/{self.kernel}/channels?session_id={uuid.uuid4().hex}"
        self._socket = await websocket_connect(address, subprotocols=[V1], max_message_size=1 << 30)
        self._reading = asyncio.ensure_future(self._read())
        comm = uuid.uuid4().hex
        self._send("comm_open", {"comm_id": comm, "target_name": "jupyter.widget.control", "data": {}}, "1.0.0")
        self._send("comm_msg", {"comm_id": comm, "data": {"method": "request_states"}})
        await self.until(lambda: bool(self.exercises))

    @property
    def exercises(self) -> list[tuple[str, str, str]]:
        """Models of the field, the button and the verdict of each exercise, in their order."""
        boxes = [at for at in self.widgets.values() if "wb-exercise" in _list(at.get("_dom_classes"))]
        found = []
        for box in boxes:
            models = [*map(_model, _list(box.get("children")))]
            line = [*map(_model, _list(self.widgets.get(models[1], {}).get("children")))] if len(models) > 2 else []
            press = [model for model in line if self.widgets.get(model, {}).get("description") == "Check"]
            if line and press:
                found.append((line[0], press[0], models[2]))
        return found

    async def answer(self, number: int, answer: object) -> tuple[float, str]:
        """Give an answer to an exercise, from 0; returns the seconds until the verdict, and the verdict."""
        field, press, verdict = self.exercises[number]
        begun = time.monotonic()
        # A menu takes the place of a choice.
        options = _list(self.widgets[field].get("_options_labels"))
        state = {"index": options.index(str(answer))} if options else {"value": answer}
        self._send("comm_msg", {"comm_id": field, "data": {"method": "update", "state": state}})
        self.widgets[verdict]["text"] = ""
        self._send("comm_msg", {"comm_id": press, "data": {"method": "custom", "content": {"event": "click"}}})
        await self.until(lambda: self.widgets[verdict].get("tone") in ("good", "bad") and self.said(verdict) != "")
        return time.monotonic() - begun, self.said(verdict)

    async def race(self) -> float:
        """Start the race of the lesson, and wait for its end; returns the seconds."""
        bar = next(name for name, at in self.widgets.items() if '"Start"' in json.dumps(at.get("buttons", "")))
        begun = time.monotonic()
        self._send("comm_msg", {"comm_id": bar, "data": {"method": "custom", "content": {"press": "run"}}})
        await self.until(lambda: self.widgets[bar].get("state") == "done")
        return time.monotonic() - begun

    def said(self, verdict: str) -> str:
        """The sentence of a status line."""
        text = self.widgets[verdict].get("text")
        return text if isinstance(text, str) and self.widgets[verdict].get("tone") != "busy" else ""

    async def leave(self, *, politely: bool = True) -> None:
        """Close the page. politely: ends its kernel, as a browser does; else only the connection is cut."""
        if self._reading is not None:
            self._reading.cancel()
        if self._socket is not None:
            self._socket.close()
        if politely and self.kernel:
            asked = HTTPRequest(f"{self.url}/voila/api/shutdown/{self.kernel}", "POST", body="", request_timeout=60)
            asked.headers = {"Cookie": f"_xsrf={self.token}", "X-XSRFToken": self.token}
            with contextlib.suppress(Exception):
                await AsyncHTTPClient(max_clients=1000).fetch(asked)

    async def until(self, reached: Callable[[], bool]) -> None:
        """Wait until a state of the widgets is reached. Raises TimeoutError."""
        async with self._changed:
            await asyncio.wait_for(self._changed.wait_for(reached), PATIENCE)

    async def _read(self) -> None:
        assert self._socket is not None
        while (message := await self._socket.read_message()) is not None:
            if isinstance(message, bytes):
                self._take(message)
                async with self._changed:
                    self._changed.notify_all()

    def _take(self, message: bytes) -> None:
        count = struct.unpack_from("<Q", message)[0]
        offsets = struct.unpack_from(f"<{count}Q", message, 8)
        kind = json.loads(message[offsets[1] : offsets[2]])["msg_type"]
        if kind not in ("comm_open", "comm_msg"):
            return
        content = json.loads(message[offsets[4] : offsets[5]])
        data = content["data"]
        if data.get("method") == "update_states":
            for model, at in data["states"].items():
                self.widgets[model] = {"_model_name": at["model_name"]} | at["state"]
        elif kind == "comm_open":
            self.widgets[content["comm_id"]] = data.get("state", {})
        elif data.get("method") in ("update", "echo_update"):
            self.widgets.setdefault(content["comm_id"], {}).update(data.get("state", {}))

    def _send(self, kind: str, content: object, version: str = "2.1.0") -> None:
        header = {"msg_id": uuid.uuid4().hex, "msg_type": kind, "session": "s", "username": "", "version": "5.3"}
        header["date"] = "2026-01-01T00:00:00Z"
        parts = [b"shell", *(json.dumps(part).encode() for part in (header, {}, {"version": version}, content))]
        offsets = [8 * (len(parts) + 2)]
        for part in parts:
            offsets.append(offsets[-1] + len(part))
        assert self._socket is not None
        packed = struct.pack(f"<{len(offsets) + 1}Q", len(offsets), *offsets) + b"".join(parts)
        sent = self._socket.write_message(packed, binary=True)
        self._sent.add(sent)
        sent.add_done_callback(self._sent.discard)


def _list(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def _model(name: str) -> str:
    return name.removeprefix("IPY_MODEL_")
