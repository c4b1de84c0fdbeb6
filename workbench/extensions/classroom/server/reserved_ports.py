"""Ports of kernels that no other program gets before the kernel has bound them.

Jupyter asks the system for a free port and closes it again. Until the kernel binds it, which takes a second and more in
a class, the system gives it to any program that connects anywhere, and the kernel ends with "Address already in use".
"""

from __future__ import annotations

import socket


class ReservedPort:
    """A free port of an address, for a listener that shares it, as those of ZeroMQ do (SO_REUSEADDR).

    number: of the port. It is bound and does not listen: on Linux such a listener may bind it by its number, and the
    system gives it to no other socket. Where the system refuses that listener as well (macOS), it is free from the
    start. Costs an open file until it is released.
    """

    def __init__(self, address: str) -> None:
        self._socket = socket.socket()
        self._socket.bind((address, 0))
        # After it is bound: the system else takes a port that another one shares.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.number = int(self._socket.getsockname()[1])
        if not _can_be_bound(address, self.number):
            self.release()

    def release(self) -> None:
        """Free the port; a listener on it stays."""
        self._socket.close()


def _can_be_bound(address: str, port: int) -> bool:
    with socket.socket() as sharing:
        sharing.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sharing.bind((address, port))
        except OSError:
            return False
    return True
