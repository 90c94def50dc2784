"""Compares folders of datasets: which are the same, and how that is known (`sweep catalog discover`)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from orchestrator.feeds.look import Folder


@dataclass(frozen=True)
class Finding:
    """What a folder is: a replica of its dataset, or none, and how that is known."""

    folder: Folder
    is_replica: bool
    why: str


def compare_folders(folders: Sequence[Folder], is_encrypted: Callable[[Folder], bool]) -> list[Finding]:
    """Return what each folder is, dataset by dataset.

    The original of a dataset is the folder that has all that any other has. A folder that lacks objects is half copied,
    one whose objects have other sizes or contents is other data: neither is a replica. ETags tell contents apart only
    where neither object was written in parts, nor encrypted with a key of KMS: `is_encrypted` is asked about that. What
    our own copy has left beside a folder proves more: that nothing was written since, on neither side.
    """
    by_dataset: dict[tuple[str, str], list[Folder]] = defaultdict(list)
    for folder in folders:
        by_dataset[folder.campaign, folder.version].append(folder)
    return [one for key in sorted(by_dataset) for one in _compare(by_dataset[key], is_encrypted)]


def _compare(folders: Sequence[Folder], is_encrypted: Callable[[Folder], bool]) -> list[Finding]:
    whole = {name for folder in folders for name in folder.objects}
    original = next((folder for folder in folders if folder.objects.keys() == whole), None)
    if original is None:
        return [Finding(folder, False, "none has all objects: which is whole?") for folder in folders]
    found = [Finding(original, True, _why_first(original, alone=len(folders) == 1))]
    for folder in folders:
        if folder.region in {one.folder.region for one in found if one.is_replica} and folder is not original:
            found.append(Finding(folder, False, f"a second one in {folder.region}"))
        elif folder is not original:
            found.append(_finding(folder, original, is_encrypted))
    return found


def _why_first(original: Folder, *, alone: bool) -> str:
    if original.copied_from:
        return f"a copy of {original.copied_from[0]}"
    return "the only one" if alone else "the original"


def _finding(folder: Folder, original: Folder, is_encrypted: Callable[[Folder], bool]) -> Finding:
    if missing := len(original.objects) - len(folder.objects):
        return Finding(folder, False, f"half copied: {missing:,} of {len(original.objects):,} objects are missing")
    if folder.sizes != original.sizes:
        name = next(name for name, size in original.sizes.items() if folder.sizes[name] != size)
        return Finding(folder, False, f"other data: {name} has another size")
    if folder.mark == original.mark:
        return Finding(folder, True, "the same keys, sizes and ETags")
    if folder.origins & original.origins:
        return Finding(
            folder, True, "the same by lineage: one was copied from the other, and nothing was written since"
        )
    pairs = [(name, item.etag, original.objects[name].etag) for name, item in folder.objects.items()]
    comparable = [(name, one, other) for name, one, other in pairs if "-" not in one + other]
    differing = [name for name, one, other in comparable if one != other]
    if differing and not is_encrypted(folder) and not is_encrypted(original):
        return Finding(folder, False, f"other data: {differing[0]} has another ETag")
    if _is_copy(folder, original) or _is_copy(original, folder):
        return Finding(folder, False, "other data: something was written since one was copied from the other")
    return Finding(folder, True, "the same keys and sizes; their ETags cannot be compared")


def _is_copy(folder: Folder, original: Folder) -> bool:
    """Return whether a folder says that it was once copied from the other."""
    return folder.lineage is not None and folder.lineage.source == original.uri


def rows_of(
    findings: Sequence[Finding], shared: Container[tuple[str, str]] = ()
) -> dict[str, dict[int, dict[str, object]]]:
    """Return the catalog's rows of all replicas that were found, numbered, by the kind of file that has such rows.

    Datasets among the `shared`, by campaign and version, have replicas that were not looked at: what the catalog says
    of the dataset stays, and the size of a folder is told of its replica alone.
    """
    replicas = [one.folder for one in findings if one.is_replica]
    originals = {(folder.campaign, folder.version): folder for folder in reversed(replicas)}
    kinds: dict[str, list[dict[str, object]]] = {
        "campaigns": [{"campaign": name} for name in dict.fromkeys(campaign for campaign, _ in originals)],
        "datasets": [
            {
                "campaign": folder.campaign,
                "version": folder.version,
                "bytes": folder.bytes,
                "created_at": datetime.fromtimestamp(folder.created_at, timezone.utc),
            }
            for key, folder in originals.items()
            if key not in shared
        ],
        "replicas": [
            {
                "dataset": f"{folder.campaign}@{folder.version}",
                "region": folder.region,
                "s3_uri": folder.uri,
                "bytes": folder.bytes if (folder.campaign, folder.version) in shared else None,
                "objects": len(folder.objects),
                "mark": folder.mark,
            }
            for folder in replicas
        ],
    }
    return {kind: dict(enumerate(rows, 1)) for kind, rows in kinds.items()}
