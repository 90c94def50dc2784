"""Tells whose a connection is. Whoever may ask an instance's metadata gets its role's keys: only who started us."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

_TABLE = Path("/proc/net/tcp")
_LOCAL, _REMOTE, _USER = 1, 2, 7
"""The columns of that table that we read."""


def is_ours(peer: tuple[str, int], here: tuple[str, int]) -> bool:
    """Return whether the other end of a connection of this machine belongs to a process of our user's.

    Only Linux tells; elsewhere everybody on this machine is trusted.
    """
    if sys.platform != "linux":
        return True
    wanted = (_hexadecimal(peer), _hexadecimal(here))
    for line in _TABLE.read_text().splitlines()[1:]:
        columns = line.split()
        if (columns[_LOCAL], columns[_REMOTE]) == wanted:
            return int(columns[_USER]) in (os.geteuid(), 0)
    return False


def _hexadecimal(address: tuple[str, int]) -> str:
    """Return an address as the table writes it: its bytes in the machine's order, and the port."""
    number = int.from_bytes(socket.inet_aton(address[0]), sys.byteorder)
    return f"{number:08X}:{address[1]:04X}"
