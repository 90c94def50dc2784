"""Finds datasets in S3: what lies where, which of it is the same, and how that is known (`sweep catalog discover`)."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from orchestrator.aws.s3 import S3, region_of_bucket
from orchestrator.errors import CatalogError, UsageError
from orchestrator.feeds.refresh import AT_ONCE
from orchestrator.wire.names import S3Uri, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orchestrator.aws.s3 import Listed
    from orchestrator.aws.session import Clients
    from orchestrator.feeds.pattern import Pattern


@dataclass(frozen=True)
class Folder:
    """A dataset's folder in one bucket, with all that lies in it."""

    campaign: str
    version: str
    bucket: str
    region: str
    prefix: str
    """The key that all of its objects begin with, as far as the folder's slash."""
    objects: dict[str, Listed] = field(default_factory=dict)
    """What lies in it, by the rest of the key."""

    @property
    def uri(self) -> str:
        """The folder's address in S3."""
        return f"s3://{self.bucket}/{self.prefix}"

    @property
    def bytes(self) -> int:
        """The size of all its objects."""
        return sum(item.size for item in self.objects.values())

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each of its objects, by the rest of the key."""
        return {name: item.size for name, item in self.objects.items()}

    @property
    def mark(self) -> str:
        """A digest of its keys, sizes and ETags: it changes when anything in the folder does."""
        return digest(sorted((name, item.size, item.etag) for name, item in self.objects.items()), 32)

    @property
    def created_at(self) -> float:
        """When its oldest object was written, in seconds since the epoch."""
        return min(item.modified_at for item in self.objects.values())


@dataclass(frozen=True)
class Look:
    """What lies below one address."""

    uri: str
    folders: tuple[Folder, ...]
    odd: tuple[str, ...]
    """Addresses of objects that belong to no dataset: their keys do not fit the pattern."""


def look_through(clients: Clients, region: str, places: Sequence[str], pattern: Pattern) -> list[Look]:
    """Return what lies below these addresses in S3, in their order.

    `region` is where AWS is asked which Region a bucket lies in. Raise UsageError for what is no address, CatalogError
    for an address below which no key fits the pattern.
    """
    parsed = dict.fromkeys(map(_address, places))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        looks = [pool.submit(_look, clients, region, uri, pattern) for uri in parsed]
        return [look.result() for look in looks]


def _address(place: str) -> S3Uri:
    try:
        uri = S3Uri.parse(place)
    except ValueError as error:
        raise UsageError(f"{place!r} is not an S3 URI", hint="write s3://bucket/prefix/") from error
    return S3Uri(uri.bucket, uri.key.rstrip("/") + "/" if uri.key else "")


def _look(clients: Clients, region: str, uri: S3Uri, pattern: Pattern) -> Look:
    where = region_of_bucket(clients, region, uri.bucket)
    folders: dict[str, Folder] = {}
    odd: list[str] = []
    for item in S3(clients, where, uri.bucket).list(uri.key):
        rest = item.key.removeprefix(uri.key)
        if rest.endswith("/") or not rest:  # consoles make an empty object for a folder
            continue
        found = pattern.dataset_of(rest)
        if found is None:
            odd.append(f"s3://{uri.bucket}/{item.key}")
            continue
        campaign, version, name = found
        prefix = uri.key + name
        folder = folders.setdefault(prefix, Folder(campaign, version, uri.bucket, where, prefix))
        folder.objects[item.key.removeprefix(prefix)] = item
    if not folders:
        hint = f"there is {odd[0]}" if odd else "nothing lies there"
        raise CatalogError(f"no key fits the pattern {pattern.text}", where=str(uri), hint=hint)
    return Look(str(uri), tuple(folders.values()), tuple(odd))


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
    where neither object was written in parts, nor encrypted with a key of KMS: `is_encrypted` is asked about that.
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
    found = [Finding(original, True, "the original" if len(folders) > 1 else "the only one")]
    for folder in folders:
        if folder.region in {one.folder.region for one in found if one.is_replica} and folder is not original:
            found.append(Finding(folder, False, f"a second one in {folder.region}"))
        elif folder is not original:
            found.append(_finding(folder, original, is_encrypted))
    return found


def _finding(folder: Folder, original: Folder, is_encrypted: Callable[[Folder], bool]) -> Finding:
    if missing := len(original.objects) - len(folder.objects):
        return Finding(folder, False, f"half copied: {missing:,} of {len(original.objects):,} objects are missing")
    if folder.sizes != original.sizes:
        name = next(name for name, size in original.sizes.items() if folder.sizes[name] != size)
        return Finding(folder, False, f"other data: {name} has another size")
    if folder.mark == original.mark:
        return Finding(folder, True, "the same keys, sizes and ETags")
    pairs = [(name, item.etag, original.objects[name].etag) for name, item in folder.objects.items()]
    comparable = [(name, one, other) for name, one, other in pairs if "-" not in one + other]
    differing = [name for name, one, other in comparable if one != other]
    if differing and not is_encrypted(folder) and not is_encrypted(original):
        return Finding(folder, False, f"other data: {differing[0]} has another ETag")
    return Finding(folder, True, "the same keys and sizes; their ETags cannot be compared")


def rows_of(findings: Sequence[Finding]) -> dict[str, dict[int, dict[str, object]]]:
    """Return the catalog's rows of all replicas that were found, numbered, by the kind of file that has such rows."""
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
            for folder in originals.values()
        ],
        "replicas": [
            {
                "dataset": f"{folder.campaign}@{folder.version}",
                "region": folder.region,
                "s3_uri": folder.uri,
                "objects": len(folder.objects),
                "mark": folder.mark,
            }
            for folder in replicas
        ],
    }
    return {kind: dict(enumerate(rows, 1)) for kind, rows in kinds.items()}
