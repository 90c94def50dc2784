"""Compares folders that were found with the catalog's replicas of the same datasets that were not looked at."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.feeds.discover import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orchestrator.feeds.look import Folder


@dataclass(frozen=True)
class Known:
    """A replica that the catalog knows."""

    dataset: str
    region: str
    uri: str
    bytes: int
    objects: int | None
    mark: str | None

    @property
    def where(self) -> str:
        """The Region and the address, in words."""
        return f"the replica in {self.region} that the catalog knows, {self.uri}"


class Elsewhere:
    """The replicas that the catalog knows, beside those addresses that were looked through."""

    def __init__(self, known: Iterable[Known], looked: Sequence[str]) -> None:
        """Take all that the catalog knows, and the addresses that were looked through."""
        self._here: dict[str, Known] = {}
        self._unseen: dict[str, list[Known]] = defaultdict(list)
        for one in known:
            self._here[one.uri] = one
            if not one.uri.startswith(tuple(looked)):
                self._unseen[one.dataset].append(one)

    def doubt(self, finding: Finding) -> Finding:
        """Return the finding, or that the folder is no replica: the catalog knows a replica elsewhere that is not so.

        A folder that was a replica before stays one when it changes, unless it has lost objects: what was looked at
        now is newer than what was looked at then.
        """
        if not finding.is_replica:
            return finding
        folder, others = finding.folder, self.others(finding.folder)
        if same := [other for other in others if _is_same(folder, other)]:
            return Finding(folder, True, f"the same as {same[0].where}")
        own = self._here.get(folder.uri)
        for other in others:
            if own is not None and own.mark is not None and len(folder.objects) >= (other.objects or 0):
                continue
            if other.mark is None and own is not None:
                continue  # nobody has looked at either: both are as somebody wrote them down
            if difference := _difference(folder, other):
                why = f"not {other.where}: {difference}; discover both at once to have them compared"
                return Finding(folder, False, why)
        return finding

    def others(self, folder: Folder) -> list[Known]:
        """Return the replicas of a folder's dataset in other Regions that were not looked at."""
        unseen = self._unseen.get(f"{folder.campaign}@{folder.version}", ())
        return [one for one in unseen if one.region != folder.region]


def known_replicas(replicas: Iterable[Mapping[str, Any]], datasets: Iterable[Mapping[str, Any]]) -> list[Known]:
    """Return what the catalog knows, by its rows. A replica has its dataset's size, unless it says another."""
    sizes = {row["dataset"]: row["bytes"] for row in datasets}
    return [
        Known(
            row["dataset"],
            row["region"],
            row["s3_uri"],
            sizes[row["dataset"]] if row["bytes"] is None else row["bytes"],
            row["objects"],
            row["mark"],
        )
        for row in replicas
    ]


def _is_same(folder: Folder, other: Known) -> bool:
    """Return whether it is known that a folder holds what a replica held when somebody looked at it."""
    return other.mark is not None and (folder.mark == other.mark or (other.uri, other.mark) in folder.origins)


def _difference(folder: Folder, other: Known) -> str:
    """Return in words how a folder differs from a replica; nothing if nothing is known that says so."""
    if other.objects is not None and len(folder.objects) != other.objects:
        return f"objects: {len(folder.objects):,}, not {other.objects:,}"
    if folder.bytes != other.bytes:
        return f"bytes: {folder.bytes:,}, not {other.bytes:,}"
    return "other keys, sizes or ETags" if other.mark is not None else ""
