"""What differs between two runs: what was asked, with which data, code and image, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.errors import SweepError
from orchestrator.plan.dollars import told_apart
from orchestrator.platforms.registry import make_operating
from orchestrator.runs.sending.changes import compare
from orchestrator.runs.sending.templates import source_key

if TYPE_CHECKING:
    from orchestrator.runs.run import Run

_LONGEST = 80
"""Characters of a value that are shown."""


@dataclass(frozen=True)
class Difference:
    """One thing that two runs do not have in common."""

    what: str
    """The key of the sweep file, such as `train.image`, or data, sources, image, tasks, state, cost, best."""
    one: str
    other: str


def find_differences(one: Run, other: Run) -> list[Difference]:
    """Return what differs between two runs; nothing if they are alike. Results are those that the database knows."""
    found = [*_asked(one, other), *_data(one, other), *_sources(one, other), *_image(one, other), *_came(one, other)]
    return [each for each in found if each.one != each.other]


def _asked(one: Run, other: Run) -> list[Difference]:
    left, right = (_flat(run.plan.sweep.as_written().model_dump(mode="json")) for run in (one, other))
    return [Difference(key, _shown(left.get(key)), _shown(right.get(key))) for key in [*left, *(right.keys() - left)]]


def _flat(body: Any, path: str = "") -> dict[str, Any]:
    """Return the values of a mapping of mappings by their dotted keys."""
    if not isinstance(body, dict) or not body:
        return {path: body}
    return {
        key: value
        for name, inner in body.items()
        for key, value in _flat(inner, f"{path}.{name}" if path else str(name)).items()
    }


def _shown(value: Any) -> str:
    """Return a value as people read it; nothing where there is none."""
    if value in (None, "", [], {}):
        return ""
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _data(one: Run, other: Run) -> list[Difference]:
    left, right = ({dataset.name for dataset in run.plan.datasets} for run in (one, other))
    return [Difference("data", ", ".join(sorted(left - right)), ", ".join(sorted(right - left)))]


def _sources(one: Run, other: Run) -> list[Difference]:
    """Return how the sources differ, by the names of files where both archives are still there."""
    if one.anchor.code == other.anchor.code:
        return []
    try:
        left, right = (_archive(run) for run in (one, other))
        return [Difference("sources", one.anchor.code, compare(left, right))]
    except (SweepError, OSError, EOFError, StopIteration):
        return [Difference("sources", one.anchor.code, other.anchor.code)]


def _archive(run: Run) -> bytes:
    _, region = run.plan.sites[0]
    return run.cloud.bucket(region).get(source_key(run.anchor.code)).body


def _image(one: Run, other: Run) -> list[Difference]:
    """Return the images by their digests, of the first place that both may run at."""
    lanes = [{place.lane for share in run.plan.shares for place in share.places} for run in (one, other)]
    shared = sorted(lanes[0] & lanes[1])
    if not shared:
        return []
    lane = shared[0]
    try:
        templates = [run.cloud.control(run.name).template(lane.platform, lane.region) for run in (one, other)]
    except SweepError:
        return []  # a run whose submit was stopped before its Regions were prepared
    left, right = (make_operating(lane.platform).image(template, lane) for template in templates)
    return [Difference("image", left, right)]


def _came(one: Run, other: Run) -> list[Difference]:
    left, right = one.status(), other.status()
    best = [next((row.score for row in run.results() if row.score is not None), None) for run in (one, other)]
    return [
        Difference("tasks", f"{left.tasks:,}", f"{right.tasks:,}"),
        Difference("state", left.state, right.state),
        Difference("cost", *told_apart(left.usd, right.usd)),
        Difference("planned cost", *told_apart(one.plan.usd, other.plan.usd)),
        Difference("best", *("" if score is None else f"{score:.5g}" for score in best)),
    ]
