"""The sweep file of one task by itself: its data, its point and, where that is to stay, its lane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.task import Lane, Scalar


def body_of_point(sweep: Sweep, point: Mapping[str, Scalar]) -> dict[str, Any]:
    """Return a sweep file, as a mapping, that has this one point and is the given one in all else."""
    body = sweep.as_written().model_dump(mode="json", exclude_defaults=True)
    return body | {"space": {name: [value] for name, value in point.items()}}


def on_dataset(body: dict[str, Any], dataset: str) -> dict[str, Any]:
    """Return the sweep file with this dataset, such as `alps@2`, as all its data."""
    campaign, _, version = dataset.rpartition("@")
    return body | {"data": {"campaigns": [campaign], "version": version}}


def on_lane(body: dict[str, Any], lane: Lane) -> dict[str, Any]:
    """Return the sweep file with this lane as its only one."""
    where = {name: value for name, value in body.get("where", {}).items() if name not in ("resources", "named_types")}
    only = {
        "platforms": [lane.platform],
        "regions": [lane.region],
        "instance_types": [lane.instance_type],
        "purchases": [lane.purchase.value],
    }
    return body | {"where": where | only}
