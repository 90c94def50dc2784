"""The import rule of the house, for import-linter: a line a room, naming what it may import, and nothing else."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from importlinter import Contract, ContractCheck, fields, output

if TYPE_CHECKING:
    from grimp import ImportGraph

HOUSE = "orchestrator"
PLATFORM = "platforms.*.*"
"""The modules of a platform: each has a folder of its own."""
SHARED = ("platforms.account", "platforms.bare", "platforms.conformance")
"""The folders beside, which are no platform: they are for all of these."""


class Rooms(Contract):
    """`room: what, it, may, import`. A longer name (`platforms.base`) has a line of its own; `*` is any one name.

    No line lets anybody into the folder of a platform: it is found by its entry points.
    """

    rooms = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002 (import-linter calls it so)
        rules, pairs = parse(self.rooms), imports(graph)
        found = sorted(trespasses(rules, between_rooms(pairs)) | into_platforms(pairs))
        return ContractCheck(kept=not found, metadata={"found": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, imported in check.metadata["found"]:
            output.print_error(f"{HOUSE}.{importer} may not import {HOUSE}.{imported}")


def parse(lines: Any) -> dict[str, frozenset[str]]:
    rules = {}
    for line in lines:
        room, _, allowed = line.partition(":")
        rules[room.strip()] = frozenset(name.strip() for name in allowed.split(",") if name.strip())
    return rules


def imports(graph: ImportGraph) -> set[tuple[str, str]]:
    """(importer, imported) between any two modules, named without the house."""
    return {
        (importer.removeprefix(f"{HOUSE}."), imported.removeprefix(f"{HOUSE}."))
        for importer in graph.modules - {HOUSE}
        for imported in graph.find_modules_directly_imported_by(importer)
    }


def between_rooms(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(a, b) for a, b in pairs if a.split(".")[0] != b.split(".")[0]}


def trespasses(rules: dict[str, frozenset[str]], pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The imports that no line allows. A room without a line may import nothing."""
    return {(a, b) for a, b in pairs if not any(within(b, allowed) for allowed in rules.get(room(a, rules), ()))}


def into_platforms(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The imports that lead into a platform's folder from outside."""
    return {(a, b) for a, b in pairs if within(b, PLATFORM) and folder(b) not in SHARED and folder(a) != folder(b)}


def folder(module: str) -> str:
    return ".".join(module.split(".")[:2])


def room(module: str, rules: dict[str, frozenset[str]]) -> str:
    """The longest line that the module falls under."""
    return max((name for name in rules if within(module, name)), key=len, default="")


def within(module: str, name: str) -> bool:
    parts = name.split(".")
    here = module.split(".")[: len(parts)]
    return len(here) == len(parts) and all(map(fnmatchcase, here, parts))
