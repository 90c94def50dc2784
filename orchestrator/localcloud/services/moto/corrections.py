"""What moto does otherwise than AWS, put right once for the whole process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moto.core.exceptions import JsonRESTError
from moto.s3.utils import _VersionedKeyStore
from moto.sagemaker.exceptions import ValidationError
from moto.sagemaker.models import SageMakerModelBackend
from moto.scheduler.models import EventBridgeSchedulerBackend

if TYPE_CHECKING:
    from collections.abc import Iterator


def correct_moto() -> None:
    """Put it right. Call it once."""
    _list_what_is_there()
    _keep_groups()
    _keep_registered_models()


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


def _keep_registered_models() -> None:
    """Refuse a model package group that is there, make a version of one token once, and keep what an update leaves out.

    AWS does so. moto replaces the group, makes another version, and takes away a version's metadata.
    """
    create_group = SageMakerModelBackend.create_model_package_group
    create, update = SageMakerModelBackend.create_model_package, SageMakerModelBackend.update_model_package

    def create_group_once(backend: Any, model_package_group_name: str, **more: Any) -> str:
        if there := backend.model_package_groups.get(model_package_group_name):
            raise ValidationError(f"Model Package Group already exists: {there.arn}")
        return create_group(backend, model_package_group_name, **more)

    def create_once(backend: Any, client_token: str | None, **more: Any) -> str:
        made = (each.arn for each in backend.model_packages.values() if client_token == each.client_token is not None)
        return next(made, None) or create(backend, client_token=client_token, **more)

    def update_and_keep(backend: Any, model_package_arn: str, **more: Any) -> str:
        if there := backend.model_packages.get(model_package_arn):
            more["model_approval_status"] = more["model_approval_status"] or there.model_approval_status
            more["approval_description"] = more["approval_description"] or there.approval_description
            kept = {**(there.customer_metadata_properties or {}), **(more["customer_metadata_properties"] or {})}
            more["customer_metadata_properties"] = kept
        return update(backend, model_package_arn, **more)

    SageMakerModelBackend.create_model_package_group = create_group_once  # type: ignore[assignment,method-assign]
    SageMakerModelBackend.create_model_package = create_once  # type: ignore[assignment,method-assign]
    SageMakerModelBackend.update_model_package = update_and_keep  # type: ignore[assignment,method-assign]
