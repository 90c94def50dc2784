"""The import rule of the house, for import-linter: a line a room, naming what it may import, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from importlinter import Contract, ContractCheck, fields, output

if TYPE_CHECKING:
    from grimp import ImportGraph

HOUSE = "orchestrator"


class Rooms(Contract):
    """`room: what, it, may, import`. A longer name (`platforms.sagemaker.stage`) has a line of its own."""

    rooms = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002 (import-linter calls it so)
        rules = parse(self.rooms)
        found = sorted(trespasses(rules, imports(graph)))
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
    """(importer, imported) between modules of different rooms, named without the house."""
    pairs = {
        (importer.removeprefix(f"{HOUSE}."), imported.removeprefix(f"{HOUSE}."))
        for importer in graph.modules - {HOUSE}
        for imported in graph.find_modules_directly_imported_by(importer)
    }
    return {(a, b) for a, b in pairs if a.split(".")[0] != b.split(".")[0]}


def trespasses(rules: dict[str, frozenset[str]], pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The imports that no line allows. A room without a line may import nothing."""
    return {(a, b) for a, b in pairs if not any(within(b, allowed) for allowed in rules.get(room(a, rules), ()))}


def room(module: str, rules: dict[str, frozenset[str]]) -> str:
    """The longest line that the module falls under."""
    return max((name for name in rules if within(module, name)), key=len, default="")


def within(module: str, name: str) -> bool:
    return module == name or module.startswith(f"{name}.")
