"""`sweep init`: files to start from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from orchestrator import files
from orchestrator.cli import render
from orchestrator.cli.commands.account.catalog import COMMON_KINDS
from orchestrator.cli.options import AsJson
from orchestrator.errors import UsageError

STARTER = Path(__file__).parents[2] / "starter"
NAMES = ("sweep.yaml", "sweep.toml", "src/train.py", *(f"catalog/{kind}.csv" for kind in COMMON_KINDS))


@dataclass(frozen=True)
class Written:
    """The files that were written, as JSON shows them."""

    files: tuple[Path, ...]


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="Where to; it is made if it is not there.")
    ] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a sweep.yaml and what it needs, to start from.

    A commented sweep.yaml, the settings in sweep.toml, a small training in src/, and in catalog/ an example of
    each file that a catalog is made from, to be replaced by yours.

    Example: sweep init my-sweep
    """
    paths = [folder / name for name in NAMES]
    existing = [path for path in paths if path.exists()]
    if existing and not force:
        raise UsageError("is already there", where=str(existing[0]), hint="--force replaces it")
    for name, path in zip(NAMES, paths, strict=True):
        files.make_folder(path.parent)
        files.write(path, (STARTER / name).read_text(encoding="utf-8"))
    if as_json:
        render.as_json(Written(tuple(paths)))
        return
    for path in paths:
        render.line(str(path))
    enter = "" if folder == Path() else f"`cd {folder}`, "
    render.say(f"next: {enter}`sweep catalog load catalog`, `sweep plan sweep.yaml`")
