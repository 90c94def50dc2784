"""What can be planned on EKS: what it refuses of a sweep, which lanes it has, and what its clusters count."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from orchestrator.platforms.bare.template import check_bare
from orchestrator.platforms.base import Complaint
from orchestrator.platforms.billing import Billing
from orchestrator.platforms.eks.asked import Asked, check_asked, read_asked, read_settings
from orchestrator.platforms.eks.sent.amounts import device_of
from orchestrator.platforms.eks.sent.manifests import ALLOWANCE_S
from orchestrator.platforms.eks.stage import stage
from orchestrator.platforms.start import Start
from orchestrator.wire.shapes import shape
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Staging
    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.shapes import Shape
    from orchestrator.wire.task import Lane, Place
    from orchestrator.wire.template import Template


class EksPlanning:
    """Knows what can be planned on EKS: see `platforms.base.Planning` for what each method promises.

    Its table of the settings says which cluster each Region has, and what all sweeps ask for there.
    """

    asks = Asked
    proxies = ("ec2",)
    bare = True
    # A node that is there begins a pod within a minute or two, most of it for the image; a server takes many Jobs.
    start = Start(seconds=90, per_second=10.0)
    # What counts is the time of the pods. They are not there yet while they wait for a node and for their image.
    billing = Billing(allowance_s=ALLOWANCE_S)
    shapes: Mapping[str, Shape] = MappingProxyType({})

    def __init__(self, settings: Mapping[str, object]) -> None:
        self.usual = read_settings(settings)

    def check(self, sweep: Sweep) -> Iterator[Complaint]:
        train = sweep.train
        yield from check_bare(train)
        if train.framework is not None:
            hint = "name an image that has Python 3 and your framework under train.image"
            yield Complaint("EKS has no images of its own", hint, ("train", "framework"))
        elif train.image is None:
            yield Complaint("no image", "name one that has Python 3 under train.image", ("train",))
        yield from check_asked(sweep, self.usual)

    def cautions(self, sweep: Sweep) -> tuple[str, ...]:
        found = []
        if "volume_gb" in sweep.train.model_fields_set:
            found.append("on EKS a training has the disk of its node: train.volume_gb says nothing there")
        elastic = read_asked(sweep, self.usual).elastic
        if elastic and sweep.train.checkpoints is None:
            found.append("an elastic training without train.checkpoints begins anew whenever a pod is lost")
        few = min(sweep.train.instance_counts)
        if elastic and few < elastic.max:
            found.append(f"there are as many pods as instances are planned for, {few}, not elastic.max, {elastic.max}")
        return tuple(found)

    def needs_starter(self, sweep: Sweep) -> bool:  # noqa: ARG002
        return True

    def refuses(self, lane: Lane) -> str:
        name = lane.instance_type
        if name.startswith("ml.") or "." not in name:
            return f"nodes have EC2's instance types, such as g5.xlarge, and not {name}"
        if shape(name) is None:
            return f"it is not known what {name} is made of, and so what a pod may ask for there"
        return ""

    def excludes(self, sweep: Sweep, lane: Lane) -> str:
        if not self.usual.cluster_in(lane.region):
            return f"EKS has no cluster in {lane.region}: {_HOW}"
        asked, known = read_asked(sweep, self.usual).efa, shape(lane.instance_type)
        if asked and known is not None and not known.efa:
            return f"{lane.instance_type} has no EFA on EKS, and platforms.eks.efa asks for {asked}"
        return ""

    def joins(self, sweep: Sweep, place: Place, next_place: Place) -> bool:  # noqa: ARG002
        return False  # a pod could have either, but what it costs would not be known before

    def proxy(self, lane: Lane) -> Lane | None:
        return None if self.refuses(lane) else replace(lane, platform="ec2")

    def uses(self, lane: Lane, site: str = "") -> Mapping[str, int]:
        if lane.purchase is Purchase.COMMITTED and site:
            return {site: 1}  # the instances of a commitment are counted by themselves
        cluster = self.usual.cluster_in(lane.region)
        if not cluster:
            return {}
        known = shape(lane.instance_type)
        nodes = {f"{cluster}/{lane.instance_type}/{lane.purchase.value}": 1}
        if known is not None and known.chip is not None:
            return {f"{cluster}/{device_of(known)}": known.chip.count, **nodes}
        return {f"{cluster}/{lane.instance_type}": 1, **nodes}

    def stage(self, staging: Staging, clients: Clients) -> Template:
        return stage(staging, self.usual, clients)


_HOW = 'write `cluster = "NAME"` under [platforms.eks] of the settings'
