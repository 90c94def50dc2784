"""YAML with positions, and without YAML 1.1's surprises.

Plain words mean what YAML 1.2's core schema says: only true and false are booleans (`no` and `on` are text), 1e-4 is a
number, 010 is ten, 1:30 and 2026-03-01 are text. A key that comes twice is an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml

from orchestrator.errors import SpecError

_NULL = re.compile(r"|~|null|Null|NULL")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_BRACKET = re.compile(r"[\[\]{}]")
_DEEPEST = 200
"""Brackets that may be open at once: many more than anybody writes."""
_REPEATED = 10_000
"""Values that aliases may repeat, in all: many more than anybody means."""
_SPECIAL = {".inf": "inf", "+.inf": "inf", "-.inf": "-inf", ".nan": "nan"}


@dataclass(frozen=True, order=True)
class Position:
    """A place in a file. Lines and columns count from 1, as in editors."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


@dataclass(frozen=True)
class Document:
    """A file's value, which knows where each of its parts stands."""

    value: Any
    root: yaml.Node | None

    def position(self, path: tuple[str | int, ...], *, of_key: bool = False) -> Position:
        """Return the position of the value that `path` leads to, or of its key.

        If the path leads nowhere, it is the position of the deepest part that exists.
        """
        node, key = self.root, None
        for step in path:
            key_node, child = _child(node, step)
            if child is not None:
                node, key = child, key_node
        target = key if of_key and key is not None else node
        return _at(target.start_mark) if target is not None else Position(1, 1)

    def has(self, path: tuple[str | int, ...]) -> bool:
        """Return True if there is a value that `path` leads to."""
        node = self.root
        for step in path:
            node = _child(node, step)[1]
        return node is not None

    def quoted(self, path: tuple[str | int, ...]) -> bool:
        """Return True if the text that `path` leads to is written in quotes."""
        node = self.root
        for step in path:
            node = _child(node, step)[1]
        return isinstance(node, yaml.ScalarNode) and node.style in ("'", '"')


def load(text: str, name: str) -> Document:
    """Read one YAML document. Raise SpecError at name:line:column if the text is none."""
    try:
        if _depth(text) > _DEEPEST:  # the parser's time grows with the depth's square
            raise SpecError("nested too deeply", where=name)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        return Document(_Builder(name).build(root) if root is not None else None, root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{name}:{_at(mark)}" if mark else name
        problem = error.problem or error.context or "it makes no sense"
        if problem.startswith("but "):
            problem = f"{error.context}, {problem}"
        raise SpecError(f"not YAML: {problem}", where=where, hint=_tip(text, mark)) from error
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        where = f"{name}:{before.count(chr(10)) + 1}:{error.position - before.rfind(chr(10))}"
        raise SpecError(f"the character U+{error.character:04X} cannot stand in YAML", where=where) from error
    except RecursionError as error:
        raise SpecError("nested too deeply", where=name) from error


def _depth(text: str) -> int:
    """Return how many brackets are open at once, at the most. Those in quotes count too: nobody writes so many."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        depth = depth + 1 if bracket in "[{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest


def _tip(text: str, mark: yaml.Mark | None) -> str:
    lines = text.splitlines()
    if mark is None or mark.line >= len(lines):
        return ""
    line = lines[mark.line]
    indentation = line[: len(line) - len(line.lstrip())]
    return "indent with spaces, not tabs" if "\t" in indentation else ""


class _Builder:
    """Makes values out of nodes. A node that an alias repeats is built once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.built: dict[int, tuple[Any, int]] = {}
        """The value of each node, and how many values there are in it."""
        self.open: set[int] = set()
        self.size = 0
        """The values so far, those that aliases repeat among them."""
        self.repeated = 0

    def build(self, node: yaml.Node) -> Any:
        if id(node) in self.built:
            value, size = self.built[id(node)]
            self.size += size
            self.repeat(size, node)
            return value
        if id(node) in self.open:
            raise self.error(node, "an alias inside what it stands for")
        self.open.add(id(node))
        before = self.size
        self.size += 1
        value = self.value(node)
        self.open.remove(id(node))
        self.built[id(node)] = value, self.size - before
        return value

    def repeat(self, values: int, node: yaml.Node) -> None:
        """Count what an alias repeats: a few lines of aliases of aliases would be more than any machine holds."""
        self.repeated += values
        if self.repeated > _REPEATED:
            hint = "write out what is meant"
            raise self.error(node, f"aliases repeat more than {_REPEATED:,} values by this one", hint=hint)

    def value(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(child) for child in node.value]
        if node.tag.startswith("tag:yaml.org,2002:") or node.tag == "!":
            return _scalar(node) if isinstance(node, yaml.ScalarNode) and node.style is None else node.value
        raise self.error(node, f"the tag {node.tag} means nothing here")

    def mapping(self, node: yaml.MappingNode) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, child in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.error(key, "a key must be a word")
            if key.value in found:
                raise self.error(key, f"the key {key.value!r} comes twice", hint="keep one")
            found[key.value] = self.build(child)
        return found

    def error(self, node: yaml.Node, message: str, hint: str = "") -> SpecError:
        return SpecError(message, where=f"{self.name}:{_at(node.start_mark)}", hint=hint)


def _scalar(node: yaml.ScalarNode) -> Any:
    text = node.value
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    if _INT.fullmatch(text):
        # Python refuses to read thousands of digits; as a float it is refused later, with its place.
        return int(text) if len(text) < 400 else float(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if text.lower() in _SPECIAL:
        return float(_SPECIAL[text.lower()])
    return float(text) if _FLOAT.fullmatch(text) else text


def _child(node: yaml.Node | None, step: str | int) -> tuple[yaml.Node | None, yaml.Node | None]:
    if isinstance(node, yaml.MappingNode):
        return next(((key, child) for key, child in node.value if key.value == step), (None, None))
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None, None


def _at(mark: yaml.Mark) -> Position:
    return Position(mark.line + 1, mark.column + 1)
