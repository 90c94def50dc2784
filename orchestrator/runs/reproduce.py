"""Writes what trains one task of a run again: a sweep file of its own, and the sources as they were."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from orchestrator.errors import Damaged, NotFound, UsageError
from orchestrator.files import make_folder, write
from orchestrator.plan.one_task import body_of_point, on_dataset, on_lane
from orchestrator.platforms.registry import make_operating
from orchestrator.platforms.source import BARE, HELPERS
from orchestrator.runs.sending.templates import source_key
from orchestrator.spec.sweep import Sweep

if TYPE_CHECKING:
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.wire.task import Lane

SOURCE = "source"


@dataclass(frozen=True)
class Reproduced:
    """A folder from which one task can be trained again."""

    folder: Path
    sweep: Path
    files: int
    """The number of files of the sources; 0 where a training has no code of ours."""
    image: str
    """The container image by its digest; empty where the sweep names none."""


def reproduce(anchor: Anchor, task: int, lane: Lane, cloud: Cloud, folder: Path) -> Reproduced:
    """Write the sweep file of one task, on the lane that it ran on, with its data's version, its code and its image.

    Raise UsageError, before anything is written, if the folder is there already or the sources are nowhere any more.
    """
    if folder.exists():
        raise UsageError("is there already", where=str(folder), hint="--to names another folder")
    image = _image(anchor, lane, cloud)
    body = sweep_body(anchor, task, lane, image)
    Sweep.model_validate(body)
    files = _sources(anchor, lane, cloud) if anchor.plan.sweep.train.source is not None else {}
    make_folder(folder)
    for name, (content, mode) in files.items():
        path = folder / SOURCE / name
        make_folder(path.parent)
        write(path, content)
        path.chmod(mode)
    sweep = folder / "sweep.yaml"
    write(sweep, _text(anchor, task, body))
    return Reproduced(folder, sweep, len(files), image)


def sweep_body(anchor: Anchor, task: int, lane: Lane, image: str) -> dict[str, Any]:
    """Return the sweep file of one task as a mapping. UsageError for one whose data a classic JOBARRAY has named."""
    made = anchor.plan.task(task, code=anchor.code)
    if "@" not in made.dataset:
        hint = f"a classic JOBARRAY of the one line `{lane.region},{made.places[0].s3_uri}` trains it again"
        raise UsageError(f"the data of task {task} is no dataset of the catalog: {made.dataset}", hint=hint)
    body = on_lane(on_dataset(body_of_point(anchor.plan.sweep, made.point), made.dataset), lane)
    train = {name: value for name, value in body["train"].items() if name not in ("dependencies", "source_outside")}
    body["train"] = train | {
        **({"source": SOURCE} if "source" in train else {}),
        **({"image": image} if image and "image" in train else {}),
    }
    return body


def _image(anchor: Anchor, lane: Lane, cloud: Cloud) -> str:
    template = cloud.control(anchor.name).template(lane.platform, lane.region)
    return make_operating(lane.platform).image(template, lane) if anchor.plan.sweep.train.image else ""


def _sources(anchor: Anchor, lane: Lane, cloud: Cloud) -> dict[str, tuple[bytes, int]]:
    """Return the files that the run was begun with, and their modes, by name; without those that are our own."""
    bucket, key = cloud.bucket(lane.region), source_key(anchor.code)
    try:
        archive = bucket.get(key).body
    except NotFound as error:
        raise UsageError("the sources of the run are not there any more", where=bucket.uri(key)) from error
    ours = {path.as_posix() for path in (*HELPERS, *BARE)}
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as packed:
            return {
                name: (_content(packed, name), packed.getmember(name).mode & 0o777)
                for name in packed.getnames()
                if name not in ours
            }
    except (tarfile.TarError, OSError, EOFError, ValueError, KeyError) as error:
        raise Damaged(f"cannot be unpacked: {error}", where=bucket.uri(key)) from error


def _content(packed: tarfile.TarFile, name: str) -> bytes:
    """Return the content of a packed file; of a link, that of the file that it leads to."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{name} lies outside")
    content = packed.extractfile(name)
    if content is None:
        raise ValueError(f"{name} is no file")
    return content.read()


def _text(anchor: Anchor, task: int, body: dict[str, Any]) -> str:
    """Return the sweep file, with a line that says whence it is."""
    import yaml

    head = f"# Task {task} of run {anchor.name}, plan {anchor.plan.id}, sources {anchor.code}.\n"
    return head + yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=120)
