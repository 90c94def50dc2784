"""What can be planned on bare EC2 instances: what they refuse of a sweep, and what EC2 counts."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from orchestrator.platforms.bare.template import check_bare
from orchestrator.platforms.billing import Billing
from orchestrator.platforms.ec2.asked import Machines, check_asked, read_asked, read_settings
from orchestrator.platforms.ec2.families import quota_of, vcpus
from orchestrator.platforms.ec2.sent.user_data import ALLOWANCE_S
from orchestrator.platforms.ec2.staging.stage import stage
from orchestrator.platforms.ec2.watching.bill import LEAST_S
from orchestrator.platforms.start import Start
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Complaint, Staging
    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.shapes import Shape
    from orchestrator.wire.task import Lane, Place
    from orchestrator.wire.template import Template


class Ec2Planning:
    """Knows what can be planned on bare instances: see `platforms.base.Planning` for what each method promises."""

    asks = Machines
    proxies = ()
    bare = True
    # An instance boots in about a minute; RunInstances is throttled at about two a second.
    start = Start(seconds=120, per_second=2.0)
    billing = Billing(start=True, least_s=LEAST_S, allowance_s=ALLOWANCE_S)
    shapes: Mapping[str, Shape] = MappingProxyType({})

    def __init__(self, settings: Mapping[str, object]) -> None:
        self.usual = read_settings(settings)

    def check(self, sweep: Sweep) -> Iterator[Complaint]:
        yield from check_bare(sweep.train)
        yield from check_asked(sweep, self.usual)

    def cautions(self, sweep: Sweep) -> tuple[str, ...]:
        asked = read_asked(sweep, self.usual)
        if (sweep.train.image or sweep.train.framework) and not asked.container:
            return ("on EC2 the AMI's own Python runs, not the image: `platforms.ec2.container: true` runs that",)
        return ()

    def needs_starter(self, sweep: Sweep) -> bool:  # noqa: ARG002 (nobody else is there to start anything)
        return True

    def refuses(self, lane: Lane) -> str:
        name = lane.instance_type
        if name.startswith("ml."):
            return f"{name} is SageMaker's: EC2 calls it {name.removeprefix('ml.')}"
        return ""

    def excludes(self, sweep: Sweep, lane: Lane) -> str:
        name = lane.instance_type
        # EC2 has such types, and tells their prices: only trainings cannot be counted there.
        if quota_of(name, lane.purchase) is None or vcpus(name) is None:
            return f"which quota {name} counts under on EC2 is not known here"
        return read_asked(sweep, self.usual).find_gap(lane.region)

    def joins(self, sweep: Sweep, place: Place, next_place: Place) -> bool:  # noqa: ARG002 (RunInstances asks for one)
        return False

    def proxy(self, lane: Lane) -> Lane | None:  # noqa: ARG002 (EC2's own spot prices are published)
        return None

    def uses(self, lane: Lane, site: str = "") -> Mapping[str, int]:
        if lane.purchase is Purchase.COMMITTED and site:
            return {site: 1}  # the instances of a reservation are paid for already
        quota, units = quota_of(lane.instance_type, lane.purchase), vcpus(lane.instance_type)
        return {quota: units} if quota and units else {}

    def stage(self, staging: Staging, clients: Clients) -> Template:
        return stage(staging, self.usual, clients)
