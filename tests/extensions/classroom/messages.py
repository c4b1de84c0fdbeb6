"""Messages to a kernel as they come over a websocket, well-formed and not."""

import json
import struct
import uuid

from workbench.extensions.classroom.server.framing import MOST_HEADER, MOST_JSON, MOST_PARTS

PARTS = 6
"""Channel, header, parent header, metadata, content, and the end of the last."""
HEADER = {"msg_id": "1", "msg_type": "kernel_info_request", "session": "s", "username": "u", "version": "5.3"}
HEADER["date"] = "2026-01-01T00:00:00Z"
REQUEST = {"header": HEADER, "parent_header": {}, "metadata": {}, "content": {}, "channel": "shell"}
OF_WIDGETS = {"": "@jupyter-widgets/controls", "_version": "2.0.0"}
NESTED = b"[" * 100_000 + b"]" * 100_000


def v1(*parts, count=None, offsets=None):
    """A message of the first protocol; count and offsets in place of those that it has."""
    true = [8 * (len(parts) + 2)]
    for part in parts:
        true.append(true[-1] + len(part))
    offsets = true if offsets is None else offsets
    numbers = (len(true) if count is None else count, *offsets)
    return struct.pack(f"<{len(numbers)}Q", *numbers) + b"".join(parts)


def request_v1(kind="kernel_info_request", **changed):
    """The parts of a request, some of them changed."""
    # A kernel takes no message twice.
    header = HEADER | {"msg_id": uuid.uuid4().hex, "msg_type": kind}
    parts = {"channel": b"shell", "header": json.dumps(header).encode()}
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


def picture(size):
    """What makes a widget with so many bytes, what asks for them again, and the name by which messages have it."""
    comm = uuid.uuid4().hex
    classes = {"model": "ImageModel", "view": "ImageView"}
    state = {f"_{kind}_module{what}": value for kind in classes for what, value in OF_WIDGETS.items()}
    state |= {f"_{kind}_name": name for kind, name in classes.items()}
    made = {"comm_id": comm, "target_name": "jupyter.widget", "data": {"state": state, "buffer_paths": [["value"]]}}
    metadata = b'{"version": "2.1.0"}'
    asked = {"comm_id": comm, "data": {"method": "request_state"}}
    request = request_v1("comm_open", content=json.dumps(made).encode(), metadata=metadata)
    return v1(*request, bytes(size)), lambda: v1(*request_v1("comm_msg", content=json.dumps(asked).encode())), comm
