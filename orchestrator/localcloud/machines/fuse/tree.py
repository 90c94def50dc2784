"""Folders and files that are read only, each with a number, as a kernel wants to know them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = 1
"""The number of the topmost folder."""


@dataclass(frozen=True)
class File:
    """A file: its path from the topmost folder, what is known of it, and how to read a part of it."""

    path: str
    size: int
    modified: float
    """Seconds since 1970."""
    read: Callable[[int, int], bytes]
    """Return so many bytes from an offset on; raise OSError or KeyError when they are there no more."""


@dataclass
class Folder:
    """A folder: the numbers of what lies in it, by name, and the names in the order in which they are listed."""

    entries: dict[bytes, int] = field(default_factory=dict)
    names: list[bytes] = field(default_factory=list)

    def add(self, name: bytes, number: int) -> None:
        """Put what has a number into the folder."""
        self.entries[name] = number
        self.names.append(name)


class Tree:
    """All folders and files below one folder, by their numbers."""

    def __init__(self, files: Iterable[File]) -> None:
        """Take files. A path that leads out of the folder, or to what is a folder already, is left out."""
        self._nodes: list[File | Folder] = [Folder()]
        for file in files:
            self._add(file)

    def __getitem__(self, number: int) -> File | Folder:
        """Return the folder or file that has a number; IndexError when there is none."""
        if number < ROOT:
            raise IndexError(number)
        return self._nodes[number - ROOT]

    def _add(self, file: File) -> None:
        *folders, name = [part for part in file.path.encode("utf-8", "surrogateescape").split(b"/") if part]
        if {b".", b".."} & {*folders, name}:
            return
        here = self._nodes[0]
        for part in folders:
            here = self._folder(here, part)
        if isinstance(here, Folder) and name not in here.entries:
            here.add(name, self._number(file))

    def _folder(self, parent: File | Folder, name: bytes) -> File | Folder:
        """Return what has a name in a folder; a new folder if nothing has it. A file has nothing in it."""
        if isinstance(parent, File):
            return parent
        if name not in parent.entries:
            parent.add(name, self._number(Folder()))
        return self[parent.entries[name]]

    def _number(self, node: File | Folder) -> int:
        self._nodes.append(node)
        return len(self._nodes)
