"""An address of this machine for each instance: it lies in 127.0.0.0/8, and nobody outside reaches it."""

from __future__ import annotations

import random
import secrets
import socket
from contextlib import suppress


def new_address() -> str:
    """Return an address at which programs of this machine can listen, and that no other instance has.

    Linux answers to all of 127.0.0.0/8. Where that is not so (macOS), all instances have 127.0.0.1.
    """
    drawn = f"127.{1 + secrets.randbelow(254)}.{secrets.randbelow(256)}.{1 + secrets.randbelow(254)}"
    with socket.socket() as probe:
        try:
            probe.bind((drawn, 0))
        except OSError:
            return "127.0.0.1"
    return drawn


def free_port() -> int:
    """Return a port below those that the kernel gives to connections: it may be long until it is listened on."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, suppress(OSError):  # somebody has it
            probe.bind(("", port))
            return port
