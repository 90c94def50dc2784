"""Mounts folders whose files the server has, then becomes a command. Standard library only; a script of its own.

    mount.py SOCKET FOLDER ... -- COMMAND ...

It runs in a mount namespace of its own: with the last process there, the mounts are gone, however that ends.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys

_READ_ONLY = 1 | 2 | 4  # MS_RDONLY, MS_NOSUID, MS_NODEV


def mount(path: str, folder: str) -> None:
    """Mount a folder, and hand the kernel's questions about it to the server behind a socket."""
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = f"fd={device},rootmode=40000,user_id={os.geteuid()},group_id={os.getegid()},allow_other"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"s3", os.fsencode(folder), b"fuse.s3", _READ_ONLY, options.encode()):
        number = ctypes.get_errno()
        raise OSError(number, f"mount: {os.strerror(number)}", folder)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.connect(path)
        socket.send_fds(server, [os.fsencode(folder)], [device])
    os.close(device)


def main(path: str, *words: str) -> None:
    """Mount all folders, and become the command that follows them."""
    end = words.index("--")
    for folder in words[:end]:
        mount(path, folder)
    os.execvp(words[end + 1], words[end + 1 :])


if __name__ == "__main__":
    main(*sys.argv[1:])
