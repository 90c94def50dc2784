"""Picks what a night trains: looks at the data as it is now, and at what was trained before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from orchestrator.account import account_number
from orchestrator.aws.account.ecr import pin_image
from orchestrator.catalog.survey.select_datasets import select_datasets
from orchestrator.db.engine import reading
from orchestrator.errors import CatalogError, Damaged, NewerVersion, Unreachable, did_you_mean
from orchestrator.models.models import Models
from orchestrator.nightly.night import words_of_nothing
from orchestrator.nightly.picking.choose import Dataset, choose, count_tasks
from orchestrator.nightly.picking.keys import work_digest
from orchestrator.nightly.picking.marks import NOTHING, read_marks
from orchestrator.nightly.picking.picked import Picked
from orchestrator.nightly.picking.trained import read_trained
from orchestrator.spec.by_region import REGION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orchestrator.catalog.survey.select_datasets import Chosen
    from orchestrator.nightly.goal import Goal
    from orchestrator.nightly.picking.marks import Marks
    from orchestrator.orchestrator import Orchestrator
    from orchestrator.spec.sweep import Sweep


def pick(goal: Goal, team: Orchestrator, *, everything: bool, elsewhere: frozenset[str] = frozenset()) -> Picked:
    """Return the tasks of tonight: those that this workload has not trained yet, or `everything`.

    What others train now is `elsewhere`, by its keys, and is not trained here.

    Data whose Region does not answer, or where nothing lies, is left out, and named.
    """
    chosen = _chosen(goal, team)
    folders = _folders(team, chosen)
    channels = _channel_uris(goal, {region for places in folders.values() for region, _ in places})
    wanted = [place for places in folders.values() for place in places]
    wanted += [place for places in channels.values() for place in places]
    marks = read_marks(team.control.clients, wanted)
    works = _works(goal, team, channels, marks)
    left_out: list[str] = []
    known: list[Dataset] = []
    for each in chosen:
        found = [marks.by_uri[uri] for _, uri in folders[each.dataset] if marks.by_uri.get(uri, NOTHING) != NOTHING]
        if found:
            known.append(Dataset(each.campaign, each.version, tuple(dict.fromkeys(found))))
        else:
            left_out.append(f"{each.dataset} ({_why_left_out(folders[each.dataset], marks)})")
    trained = set() if everything else read_trained(team.control, goal.sweep.name) | elsewhere
    sweep, said = _warmed(goal, team)
    pieces = choose(sweep, known, works, trained)
    tasks = sum(count_tasks(sweep, piece) for piece in pieces)
    possible = len(known) * len(goal.sweep.points)
    why = f"{tasks:,} of {len(known) * len(sweep.points):,} tasks" if pieces else words_of_nothing(possible, left_out)
    if pieces and left_out:
        why += f"; left out: {', '.join(left_out)}"
    if pieces and said:
        why += f"; {said}"
    return Picked(
        pieces=tuple(pieces),
        works=tuple(works),
        marks={each.campaign: list(each.marks) for each in known},
        regions=_regions(goal, team, marks),
        tasks=tasks,
        why=why,
        warm=sweep.warm.model_dump(mode="json") if sweep.warm else {},
    )


def _warmed(goal: Goal, team: Orchestrator) -> tuple[Sweep, str]:
    """Return the sweep with what it takes from its champion, and that in words; as it is, if it takes nothing.

    A champion that cannot be understood keeps nobody from training: the words name it.
    """
    try:
        sweep = Models(team.cloud, team.settings.owner).warm(goal.sweep)
    except (Damaged, NewerVersion) as error:
        return goal.sweep, f"it starts cold: {error}"
    return sweep, f"it starts from promotion {sweep.warm.promotion}" if sweep.warm else ""


def _chosen(goal: Goal, team: Orchestrator) -> list[Chosen]:
    """Return the datasets that the sweep selects; of these, those that the goal's query names, if there is one."""
    with reading(team.catalog.engine_to_read) as connection:
        chosen = select_datasets(connection, goal.sweep.data)
        if not goal.query:
            return chosen
        try:
            rows = connection.execute(text(goal.query))
            if "dataset" not in rows.keys():  # noqa: SIM118 - no mapping
                hint = "SELECT … AS dataset"
                raise CatalogError("the query has no column `dataset`", where="schedule.retrain.query", hint=hint)
            named = {str(row.dataset) for row in rows}
        except SQLAlchemyError as error:
            said = str(getattr(error, "orig", None) or error).splitlines()[0]
            raise CatalogError(f"the query fails: {said}", where="schedule.retrain.query") from error
    known = {each.dataset for each in chosen}
    for name in sorted(named - known):
        hint = did_you_mean(name, sorted(known)) or "a dataset is called campaign@version"
        raise CatalogError(f"the query names {name!r}, which the sweep's `data` does not select", hint=hint)
    return [each for each in chosen if each.dataset in named]


def _folders(team: Orchestrator, chosen: Sequence[Chosen]) -> dict[str, list[tuple[str, str]]]:
    """Return where each dataset lies, by Region: always in the same order, so that the same replica speaks for it."""
    found: dict[str, list[tuple[str, str]]] = {each.dataset: [] for each in chosen}
    for row in sorted(team.catalog.show("replicas"), key=lambda row: str(row["region"])):
        if row["dataset"] in found:
            uri = team.cloud.located(row["s3_uri"], row["region"])
            found[row["dataset"]].append((row["region"], uri))
    return found


def _channel_uris(goal: Goal, regions: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """Return where each fixed channel lies, by Region."""
    found: dict[str, list[tuple[str, str]]] = {}
    allowed = sorted(goal.sweep.where.regions or regions)
    for name, uri in goal.sweep.train.channels.items():
        if isinstance(uri, dict):
            found[name] = sorted(uri.items())
        elif REGION in uri:
            found[name] = [(region, uri.replace(REGION, region)) for region in allowed]
        else:
            found[name] = [(allowed[0], uri)] if allowed else []
    return found


def _works(
    goal: Goal, team: Orchestrator, channels: Mapping[str, Sequence[tuple[str, str]]], marks: Marks
) -> list[str]:
    """Return the digests of what all tasks share, as it is in each Region whose channels answered."""
    image = goal.sweep.train.image or ""
    if image:
        number = account_number(team.settings)
        address = image.replace("{account}", number).replace(REGION, team.settings.region)
        image = pin_image(address, number, team.control.clients)
    found = []
    for index in range(max(map(len, channels.values()), default=1)):
        seen = {name: marks.by_uri.get(places[min(index, len(places) - 1)][1]) for name, places in channels.items()}
        if all(mark is not None for mark in seen.values()):
            found.append(work_digest(goal.sweep, goal.code, image, {name: mark or "" for name, mark in seen.items()}))
    if not found:
        names = ", ".join(channels)
        raise Unreachable(f"no Region answers in which the channels {names} lie", where=", ".join(sorted(marks.down)))
    return list(dict.fromkeys(found))


def _why_left_out(places: Sequence[tuple[str, str]], marks: Marks) -> str:
    if not places:
        return "no replica in the catalog"
    down = sorted({region for region, _ in places if region in marks.down})
    return f"{', '.join(down)} does not answer" if down else f"nothing lies at {places[0][1]}"


def _regions(goal: Goal, team: Orchestrator, marks: Marks) -> tuple[str, ...]:
    """Return the Regions that may be trained in; nothing if all answered, for then the sweep says it."""
    if not marks.down:
        return ()
    allowed = goal.sweep.where.regions or team.catalog.regions()
    return tuple(region for region in allowed if region not in marks.down)
