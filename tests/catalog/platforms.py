"""A platform as the catalog sees it: `ml.` types, compared with EC2's; and one that counts vCPUs of a family."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from orchestrator.catalog.catalog import Catalog
from orchestrator.db.database import Database
from orchestrator.spec.model import Model
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.wire.shapes import Shape
    from orchestrator.wire.task import Lane, Place


class _NothingElse:
    """What the catalog does not ask."""

    asks = Model
    shapes: Mapping[str, Shape] = MappingProxyType({})

    def __init__(self, settings: Mapping[str, object] | None = None) -> None:
        pass

    def check(self, sweep: Any) -> Iterator[Any]:  # noqa: ARG002
        yield from ()

    def cautions(self, sweep: Any) -> tuple[str, ...]:  # noqa: ARG002
        return ()

    def joins(self, sweep: Any, place: Place, next_place: Place) -> bool:  # noqa: ARG002
        return False

    def excludes(self, sweep: Any, lane: Lane) -> str:
        """Return why a sweep cannot run there: in Regions that its own table says."""
        regions = sweep.platforms.get(lane.platform, {}).get("not_in", ())
        return f"nothing runs in {lane.region}" if lane.region in regions else ""

    def stage(self, staging: Any, clients: Any) -> Any:
        raise NotImplementedError


class Managed(_NothingElse):
    """Has `ml.` types only. Instances count by type and by how they are bought, those of training plans by the plan."""

    proxies = ("ec2",)

    def refuses(self, lane: Lane) -> str:
        return "" if lane.instance_type.startswith("ml.") else f"there is no {lane.instance_type}: types begin with ml."

    def proxy(self, lane: Lane) -> Lane | None:
        return replace(lane, platform="ec2", instance_type=lane.instance_type.removeprefix("ml."))

    def uses(self, lane: Lane, site: str = "") -> dict[str, int]:
        if lane.purchase is Purchase.COMMITTED:
            return {site: 1, "*/*": 1}
        return {f"{lane.instance_type}/{lane.purchase.value}": 1, f"*/{lane.purchase.value}": 1, "*/*": 1}


class Machines(_NothingElse):
    """Has any type but `ml.` ones, and counts the vCPUs of all together: 4 of an xlarge, 8 of a 2xlarge."""

    proxies = ()

    def __init__(self, shapes: Mapping[str, Shape] | None = None) -> None:
        self.shapes = shapes or {}

    def refuses(self, lane: Lane) -> str:
        return f"{lane.instance_type} is managed" if lane.instance_type.startswith("ml.") else ""

    def proxy(self, lane: Lane) -> Lane | None:  # noqa: ARG002
        return None

    def uses(self, lane: Lane, site: str = "") -> dict[str, int]:  # noqa: ARG002
        size = lane.instance_type.partition(".")[2].removesuffix("xlarge")
        return {"vcpus": 4 * int(size or 1)}


def make_catalog(url: str, max_age: dict[str, str] | None = None, **others: Any) -> Catalog:
    """Return a catalog that knows the platform `sagemaker`, and others."""
    return Catalog(Database(url), {"sagemaker": Managed(), **others}, max_age=max_age)
