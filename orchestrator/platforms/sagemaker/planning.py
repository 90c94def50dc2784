"""What can be planned on SageMaker: what it refuses of a sweep, what it has for sale, and what it counts."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from orchestrator.platforms.sagemaker.asked.preferences import asks_alike
from orchestrator.platforms.sagemaker.asked.table import Asked, check_asked, find_missing, read_asked, read_settings
from orchestrator.platforms.sagemaker.aws_images.by_uri import check_uri, find_foreign_registry, uri_cautions
from orchestrator.platforms.sagemaker.aws_images.check import check_framework, find_missing_image
from orchestrator.platforms.sagemaker.image_variables import check_image_variables, image_variable_cautions
from orchestrator.platforms.sagemaker.instance_types import PREFIX, types_of_ours
from orchestrator.platforms.sagemaker.limits import check_limits
from orchestrator.platforms.sagemaker.processes.mpi_options import check_mpi_options, mpi_cautions
from orchestrator.platforms.sagemaker.processes.parallel_support import cautions, check_parallel
from orchestrator.platforms.sagemaker.processes.starting import check_starting, starting_cautions, why_starter
from orchestrator.platforms.sagemaker.stage import stage
from orchestrator.platforms.start import Start
from orchestrator.wire.shapes import shape
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Complaint, Staging
    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.shapes import Shape
    from orchestrator.wire.task import Place
    from orchestrator.wire.template import Template


class SageMakerPlanning:
    """Knows what can be planned on SageMaker: see `platforms.base.Planning` for what each method promises.

    Its table of the settings may hold what a team's trainings have in common: role, networks and keys.
    """

    asks = Asked
    proxies = ("ec2",)
    line_images = True
    # AWS publishes neither. Machines, image and data take some minutes; CreateTrainingJob is throttled at about one.
    start = Start(seconds=180, per_second=1.0)
    shapes: Mapping[str, Shape] = MappingProxyType({})

    def __init__(self, settings: Mapping[str, object]) -> None:
        self.usual = read_settings(settings)

    def check(self, sweep: Sweep) -> Iterator[Complaint]:
        yield from check_limits(sweep)
        yield from check_framework(sweep.train, types_of_ours(sweep))
        yield from check_parallel(sweep.train, types_of_ours(sweep))
        yield from check_uri(sweep.train.image, types_of_ours(sweep), own_start=bool(why_starter(sweep.train)))
        yield from check_mpi_options(sweep.train)
        yield from check_image_variables(sweep.train)
        yield from check_asked(sweep, self.usual)
        yield from check_starting(sweep.train, types_of_ours(sweep))

    def cautions(self, sweep: Sweep) -> tuple[str, ...]:
        train = sweep.train
        return (
            *cautions(train, types_of_ours(sweep).values()),
            *uri_cautions(train.image, types_of_ours(sweep).values()),
            *mpi_cautions(train),
            *image_variable_cautions(train),
            *starting_cautions(sweep),
        )

    def needs_starter(self, sweep: Sweep) -> bool:
        return bool(why_starter(sweep.train))

    def refuses(self, lane: Lane) -> str:
        name = lane.instance_type
        if not name.startswith(PREFIX) or name == PREFIX:
            return f"SageMaker has no instance type {name}: its types begin with {PREFIX}, as in {PREFIX}g5.xlarge"
        known = shape(name)
        if lane.purchase is Purchase.COMMITTED and known is not None and known.kind == "cpu":
            return f"AWS sells no training plans for {name}: they are for instances with accelerators"
        return ""

    def excludes(self, sweep: Sweep, lane: Lane) -> str:
        asked = read_asked(sweep, self.usual)
        return (
            find_missing(asked, lane.region)
            or find_missing_image(sweep.train, lane.region)
            or find_foreign_registry(sweep.train.image, lane.region)
        )

    def joins(self, sweep: Sweep, place: Place, next_place: Place) -> bool:
        return read_asked(sweep, self.usual).instance_preferences and asks_alike(place, next_place)

    def proxy(self, lane: Lane) -> Lane | None:
        if self.refuses(lane):
            return None
        return replace(lane, platform="ec2", instance_type=lane.instance_type.removeprefix(PREFIX))

    def uses(self, lane: Lane, site: str = "") -> Mapping[str, int]:
        if lane.purchase is Purchase.COMMITTED and site:
            return {site: 1}  # the instances of a training plan are ours already: no other quota counts them
        bought = lane.purchase.value
        return {f"{lane.instance_type}/{bought}": 1, f"*/{bought}": 1, "*/*": 1}

    def stage(self, staging: Staging, clients: Clients) -> Template:
        return stage(staging, self.usual, clients)
