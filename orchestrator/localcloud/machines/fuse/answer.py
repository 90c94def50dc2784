"""Answers a kernel's questions about one tree of files, until the file system is mounted no more."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from orchestrator.localcloud.machines.fuse import messages
from orchestrator.localcloud.machines.fuse.messages import Attributes, Kind, Question
from orchestrator.localcloud.machines.fuse.tree import File, Folder

if TYPE_CHECKING:
    from orchestrator.localcloud.machines.fuse.tree import Tree

_UNANSWERED = (Kind.FORGET, Kind.BATCH_FORGET, Kind.INTERRUPT)
_READ_ONLY_FILE = stat.S_IFREG | 0o444
_READ_ONLY_FOLDER = stat.S_IFDIR | 0o555


def serve(device: int, tree: Tree) -> None:
    """Answer all questions that come from an open /dev/fuse, and close it when nobody can ask any more."""
    with os.fdopen(device, "r+b", buffering=0):
        while True:
            try:
                message = os.read(device, messages.LARGEST_QUESTION)
            except OSError as error:
                if error.errno == errno.ENODEV:  # it was unmounted: whoever saw it has ended
                    return
                if error.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):  # the question was taken back
                    continue
                raise
            question = messages.read_question(message)
            if question.kind in _UNANSWERED:
                continue
            try:
                os.write(device, _answer(question, tree))
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENODEV):  # who asked waits no more
                    raise


def _answer(question: Question, tree: Tree) -> bytes:
    try:
        return messages.answer(question, _body(question, tree))
    except OSError as error:
        return messages.answer(question, error=error.errno or errno.EIO)
    except (KeyError, IndexError):  # S3 has it no more
        return messages.answer(question, error=errno.EIO)


def _body(question: Question, tree: Tree) -> bytes:
    """Return the body of the answer; raise OSError for an error of the file system's."""
    match question.kind:
        case Kind.INIT:
            return messages.greeted(question)
        case Kind.LOOKUP:
            return _look_up(question, tree)
        case Kind.GETATTR:
            return messages.attributes(_facts(question.node, tree))
        case Kind.OPEN | Kind.OPENDIR:
            return messages.opened()
        case Kind.READ:
            return _read(question, tree)
        case Kind.READDIR:
            return _list(question, tree)
        case Kind.STATFS:
            return messages.statistics()
        case Kind.RELEASE | Kind.RELEASEDIR | Kind.FLUSH | Kind.DESTROY:
            return b""
    raise OSError(errno.ENOSYS, "no such operation here")


def _look_up(question: Question, tree: Tree) -> bytes:
    folder, name = tree[question.node], question.body.rstrip(b"\0")
    if not isinstance(folder, Folder):
        raise NotADirectoryError(errno.ENOTDIR, "not a folder")
    if name not in folder.entries:
        raise FileNotFoundError(errno.ENOENT, "no such file")
    return messages.found(_facts(folder.entries[name], tree))


def _facts(number: int, tree: Tree) -> Attributes:
    node = tree[number]
    if isinstance(node, File):
        return Attributes(number, _READ_ONLY_FILE, size=node.size, modified=node.modified)
    return Attributes(number, _READ_ONLY_FOLDER, links=2)


def _read(question: Question, tree: Tree) -> bytes:
    file = tree[question.node]
    if not isinstance(file, File):
        raise IsADirectoryError(errno.EISDIR, "a folder")
    offset, size = messages.wanted(question)
    return file.read(offset, size)


def _list(question: Question, tree: Tree) -> bytes:
    """Return as many entries of a folder as there is room for. The offset counts entries."""
    folder = tree[question.node]
    if not isinstance(folder, Folder):
        raise NotADirectoryError(errno.ENOTDIR, "not a folder")
    offset, room = messages.wanted(question)
    body = bytearray()
    for position in range(offset, len(folder.names)):
        name = folder.names[position]
        number = folder.entries[name]
        kind = stat.S_IFREG if isinstance(tree[number], File) else stat.S_IFDIR
        packed = messages.entry(number, position + 1, name, kind >> 12)
        if len(body) + len(packed) > room:
            break
        body += packed
    return bytes(body)
