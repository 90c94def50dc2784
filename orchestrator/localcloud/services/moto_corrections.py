"""What moto does otherwise than AWS, put right once for the whole process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moto.core.exceptions import JsonRESTError
from moto.s3.utils import _VersionedKeyStore
from moto.scheduler.models import EventBridgeSchedulerBackend

if TYPE_CHECKING:
    from collections.abc import Iterator


def correct_moto() -> None:
    """Put it right. Call it once."""
    _list_what_is_there()
    _keep_groups()


def _list_what_is_there() -> None:
    """Let a listing leave out what is deleted while it is made. moto's breaks: it looks each key up once more."""

    def items(store: Any) -> Iterator[tuple[str, Any]]:
        for key in dict(store):
            if versions := store.getlist(key):
                yield key, versions[-1]

    def values(store: Any) -> Iterator[Any]:
        return (value for _, value in items(store))

    _VersionedKeyStore.items = _VersionedKeyStore.iteritems = items  # type: ignore[assignment]
    _VersionedKeyStore.values = _VersionedKeyStore.itervalues = values  # type: ignore[assignment]


def _keep_groups() -> None:
    """Refuse a schedule group that is there already, as AWS does. moto replaces it, and its schedules are gone."""
    create = EventBridgeSchedulerBackend.create_schedule_group

    def create_once(backend: Any, name: str, tags: list[dict[str, str]]) -> Any:
        if name in backend.schedule_groups:
            refusal = JsonRESTError("ConflictException", f"Schedule group {name} already exists.")
            refusal.code = 409
            raise refusal
        return create(backend, name, tags)

    EventBridgeSchedulerBackend.create_schedule_group = create_once  # type: ignore[assignment,method-assign]
