"""A message to a subshell that has ended reaches its widget all the same, in a real kernel."""

import pytest
from jupyter_client.manager import start_new_kernel

from tests.waiting import LIMIT

SET_UP = """
import workbench.live, comm
channel = comm.create_comm("numbers")
def answer(message):
    print("got", message["content"]["data"])
    channel.send({})
channel.on_msg(answer)
print(channel.comm_id)
"""


def printed(client):
    """What the kernel prints next."""
    while True:
        message = client.get_iopub_msg(timeout=LIMIT)
        if message["msg_type"] == "stream":
            return message["content"]["text"].strip()
        if message["msg_type"] == "error":
            pytest.fail("\n".join(message["content"]["traceback"]))


def control(client, kind, content):
    """Ask something of the kernel besides its shell, and return the answer."""
    message = client.session.msg(kind, content)
    client.control_channel.send(message)
    while (reply := client.get_control_msg(timeout=LIMIT))["parent_header"].get("msg_id") != message["header"][
        "msg_id"
    ]:
        pass
    return reply["content"]


def click(client, comm_id, number, subshell):
    """What a page sends when a button of a widget is pressed."""
    message = client.session.msg("comm_msg", {"comm_id": comm_id, "data": {"click": number}})
    message["header"]["subshell_id"] = subshell
    client.shell_channel.send(message)


@pytest.fixture
def client():
    manager, client = start_new_kernel(startup_timeout=LIMIT)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_a_click_after_the_end_of_its_subshell_is_handled(client):
    client.execute(SET_UP)
    comm_id = printed(client)
    subshell = control(client, "create_subshell_request", {})["subshell_id"]
    click(client, comm_id, 1, subshell)
    assert printed(client) == "got {'click': 1}"
    control(client, "delete_subshell_request", {"subshell_id": subshell})
    click(client, comm_id, 2, subshell)
    client.execute("print('nothing')")
    assert printed(client) == "got {'click': 2}"
