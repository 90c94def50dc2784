"""Every reader of the project, each with inputs that it takes, and what it does with one that was changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.aws.s3 import Stored
from orchestrator.catalog.catalog import Catalog
from orchestrator.db.database import Database
from orchestrator.plan.file import read_plan, write_plan
from orchestrator.rules import Rules, read_sweep
from orchestrator.runs.written.anchor import Anchor
from orchestrator.runs.written.submission import Submission
from orchestrator.settings import settings
from orchestrator.spec.classic import read_classic
from orchestrator.wire.beside.lineage import Lineage
from orchestrator.wire.beside.markers import CancelMarker, Fence, PauseMarker
from orchestrator.wire.beside.moves import Move
from orchestrator.wire.manifest import BadLine, parse
from orchestrator.wire.names import digest
from orchestrator.wire.result import Attempt, Result
from orchestrator.wire.stored import damage_named
from orchestrator.wire.template import Template
from tests.fuzz.mutate import mutated, wrong

if TYPE_CHECKING:
    from random import Random

PROJECT = Path(__file__).parents[2]
GOLDEN = PROJECT / "tests" / "golden" / "v1"
STARTER = PROJECT / "orchestrator" / "cli" / "starter"
STORED: dict[str, Callable[[dict[str, Any]], object]] = {
    "result": Result.from_json, "attempt": Attempt.from_json, "anchor": Anchor.from_json,
    "template": Template.from_json,
    "submission": Submission.from_json, "cancel": CancelMarker.from_json, "fence": Fence.from_json,
    "pause": PauseMarker.from_json, "lineage": Lineage.from_json, "moved": Move.from_json,
}  # fmt: skip
"""What reads a stored object, by how the name of its golden file begins."""
Try = Callable[[], object]


@dataclass(frozen=True)
class Input:
    """One input: what it is, in words, and what hands it to its reader."""

    what: str
    read: Try


class Readers:
    """Makes inputs for all readers. All that they read lies in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "src").mkdir(parents=True)
        (folder / "src" / "train.py").write_text("print(1)\n")
        self.settings = settings.read({"database": f"sqlite:///{folder / 'fuzz.db'}"}, folder=folder)

    def make(self, random: Random) -> Input:
        """Return a new input for one of the readers."""
        makers = (self._stored, self._manifest, self._plan, self._sweep, self._settings, self._catalog)
        return random.choices(makers, (30, 26, 16, 20, 5, 3))[0](random)

    def _stored(self, random: Random) -> Input:
        kind, body = random.choice(self._golden)
        text = _json(body, random)

        def read() -> object:
            with damage_named("s3://control/object"):
                return STORED[kind](Stored(text.encode(errors="surrogatepass"), "").json())

        return Input(f"stored {kind}: {text[:3000]!r}", read)

    def _manifest(self, random: Random) -> Input:
        line = random.choice(self._lines)
        if random.random() < 0.5 and line.count(",") > 1:
            region, uri, body = line.split(",", 2)
            line = f"{region},{uri},{json.dumps(wrong(json.loads(body), random))}"
        text = mutated(line, random)
        file = self.folder / "lines.manifest"

        def read() -> object:
            if random.random() < 0.5:
                file.write_text(text, encoding="utf-8", errors="surrogatepass")
                return read_classic(file)
            with suppress(BadLine):
                return parse(text)
            return None

        return Input(f"manifest: {text[:3000]!r}", read)

    def _plan(self, random: Random) -> Input:
        body = wrong(json.loads(self._a_plan), random)
        try:
            body["id"] = digest(
                {name: value for name, value in body.items() if name not in ("id", "folder", "version")}
            )
        except (ValueError, TypeError):
            body = json.loads(self._a_plan)
        text = json.dumps(body, indent=1)
        if random.random() < 0.3:
            text = mutated(text, random)
        file = self.folder / "changed.json"
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
        return Input(f"plan: {text[:6000]!r}", lambda: read_plan(file).worst_usd)

    def _sweep(self, random: Random) -> Input:
        text = mutated(random.choice(self._sweeps), random)
        file = self.folder / "changed.yaml"
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
        return Input(f"sweep: {text[:6000]!r}", lambda: len(read_sweep(file, self.settings).points))

    def _settings(self, random: Random) -> Input:
        text = mutated(self._a_setting, random)
        folder = self.folder / "settings"
        folder.mkdir(exist_ok=True)
        (folder / "sweep.toml").write_text(text, encoding="utf-8", errors="surrogatepass")
        return Input(f"settings: {text[:3000]!r}", lambda: Rules(settings.read(folder=folder)).all())

    def _catalog(self, random: Random) -> Input:
        name, table = random.choice(self._tables)
        text = mutated(table, random)
        file = self.folder / f"{name}.csv"
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
        return Input(f"catalog {name}: {text[:3000]!r}", lambda: self._a_catalog.load([file], name))

    @cached_property
    def _golden(self) -> list[tuple[str, Any]]:
        found = []
        for file in sorted(GOLDEN.iterdir()):
            if file.stem in STORED:
                found.append((file.stem, json.loads(file.read_text())))
        return [*found, ("fence", {"version": 1, "owners": {"2": "0-3"}})]

    @cached_property
    def _lines(self) -> list[str]:
        manifests = [line for file in GOLDEN.rglob("*.manifest") for line in file.read_text().splitlines()]
        return [*manifests, "eu-west-1,s3://bucket/data/"]

    @cached_property
    def _a_plan(self) -> str:
        from tests.plan.test_file import whole_plan

        file = self.folder / "plan.json"
        write_plan(whole_plan(), file)
        return file.read_text()

    @cached_property
    def _sweeps(self) -> list[str]:
        files = [STARTER / "sweep.yaml", *sorted((PROJECT / "examples").glob("*.yaml"))]
        return [file.read_text() for file in files]

    @cached_property
    def _a_setting(self) -> str:
        return (
            STARTER / "sweep.toml"
        ).read_text() + '\n[platforms.sagemaker]\nrole = "arn:aws:iam::123456789012:role/x"\n'

    @cached_property
    def _tables(self) -> list[tuple[str, str]]:
        return [(file.stem, file.read_text()) for file in sorted((STARTER / "catalog").glob("*.csv"))]

    @cached_property
    def _a_catalog(self) -> Catalog:
        rules = Rules(self.settings)
        return Catalog(Database(self.settings.database), rules.all(), rules.usual)


def _json(body: Any, random: Random) -> str:
    text = json.dumps(wrong(json.loads(json.dumps(body)), random))
    return mutated(text, random) if random.random() < 0.4 else text
