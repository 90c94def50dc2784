"""What is everything in a ready account called? What we make has our names; what the settings name is the team's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.platforms import registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.settings.infra import InfraSettings
    from orchestrator.settings.settings import Settings

ACCOUNT, PARTITION = "${AWS::AccountId}", "${AWS::Partition}"
"""The account's number and AWS's part of the world in a template: they are not known before it is deployed."""
_PARTITIONS = {
    "cn-": "aws-cn",
    "us-gov-": "aws-us-gov",
    "us-iso-": "aws-iso",
    "us-isob-": "aws-iso-b",
    "eu-isoe-": "aws-iso-e",
    "us-isof-": "aws-iso-f",
    "eusc-": "aws-eusc",
}
"""The parts of the world, by how the names of their Regions begin; all others are of `aws`."""
CONTROL_STACK, REGION_STACK = "sweep-control", "sweep-region"
VERSION = "5"
"""The version of our templates; their outputs carry it."""
LAUNCHER_REPOSITORY, TRAINING_REPOSITORY, CONDUCTOR_REPOSITORY = "sweep-launcher", "sweep-training", "sweep-conductor"
ROLES = ("role", "job_role", "execution_role", "schedule_role", "conductor_role")
"""The settings that name roles."""
QUEUE = "sweep-tasks"
LANE_QUEUE = "sweep-tasks-{region}"
LANE_QUEUE_OF_PLATFORMS = "sweep-tasks-{platform}-{region}"
"""The other name of lanes' queues that is ours: for teams whose platforms are not to wait for each other."""
LOG_GROUP = "/sweep/launchers"
SCHEDULE_GROUP = "sweep"
DEAD_LETTERS = "sweep-schedules-dead"
TOPIC = "sweep-notices"


@dataclass(frozen=True)
class Names:
    """The names of all that a team has in an account, by the settings that hold them."""

    account: str
    partition: str
    """The part of the world that AWS keeps apart: aws, aws-cn, aws-us-gov."""
    region: str
    """The control Region."""
    regions: tuple[str, ...]
    """The Regions that are trained in."""
    bucket: str
    region_bucket: str
    role: str
    job_role: str
    execution_role: str
    queue: str
    lane_queue: str
    log_group: str
    launcher_image: str
    schedule_group: str
    schedule_role: str
    schedule_dead_letters: str
    conductor_role: str
    topic: str
    theirs: frozenset[str]
    """The settings whose values are the team's own: what they name is used as it is, and not made."""
    platforms: tuple[str, ...]
    tables: Mapping[str, Mapping[str, object]]
    """The tables of the settings, by platform."""
    notices: tuple[str, ...]
    """The addresses of notices, and the secrets that come with what is told, as the settings name them."""
    model_registry: str
    """The Region of the SageMaker Model Registry that is told of champions; empty for none."""
    given: InfraSettings
    """The table [infra]: networks, keys and bounds."""

    @property
    def bucket_pattern(self) -> str:
        """The buckets of all Regions, as a policy names them."""
        return self.region_bucket.replace("{region}", "*")

    def bucket_of(self, region: str) -> str:
        """Return the name of a Region's bucket."""
        return self.region_bucket.replace("{region}", region)

    def lane_queues(self) -> list[str]:
        """Return the queues in which tasks wait for slots, each once; the name may tell Regions and platforms apart."""
        names = (self.lane_queue.replace("{platform}", name) for name in self.platforms)
        return list(dict.fromkeys(name.replace("{region}", region) for name in names for region in self.regions))

    @property
    def image_repository(self) -> str:
        """The repository of a launcher's image that the settings name; empty for ours, and for one outside ECR."""
        if "launcher_image" not in self.theirs:
            return ""
        return self.launcher_image.partition("/")[2].partition("@")[0].partition(":")[0]

    def key_of(self, region: str) -> str:
        """Return the KMS key with which a Region's buckets are encrypted; empty for S3's own."""
        return (self.given.kms_key or "").replace("{region}", region)


def ours(account: str, region: str, partition: str = "aws") -> dict[str, str]:
    """Return what each setting says where everything is made by us, in an account with this control Region."""
    roles = dict(zip(ROLES, ("training", "launcher", "launcher-start", "schedule", "conductor"), strict=True))
    return {
        "bucket": f"sweep-control-{account}-{region}",
        "region_bucket": f"sweep-data-{account}-{{region}}",
        **{setting: f"arn:{partition}:iam::{account}:role/sweep-{role}-{region}" for setting, role in roles.items()},
        "queue": QUEUE,
        "lane_queue": LANE_QUEUE,
        "log_group": LOG_GROUP,
        "launcher_image": f"{account}.dkr.ecr.{region}.amazonaws.com/{LAUNCHER_REPOSITORY}:1",
        "schedule_group": SCHEDULE_GROUP,
        "schedule_dead_letters": f"arn:{partition}:sqs:{region}:{account}:{DEAD_LETTERS}",
        "topic": f"arn:{partition}:sns:{region}:{account}:{TOPIC}",
    }


def names(settings: Settings, account: str, regions: tuple[str, ...] = ()) -> Names:
    """Return the names of all that these settings need in an account.

    What a setting names is the team's own, unless it is the name that we would give. Without Regions, those of the
    table [infra] are trained in; without these, the control Region alone.
    """
    partition = partition_of(settings.region)
    made = ours(account, settings.region, PARTITION if account == ACCOUNT else partition)
    number = account_of_roles(settings) if account == ACCOUNT else account
    known = ours(number, settings.region, partition)
    said = {name: getattr(settings, name) or "" for name in made if settings.says(name)}
    if "launcher_image" in said:
        said["launcher_image"] = (
            said["launcher_image"].replace("{account}", number).replace("{region}", settings.region)
        )
    theirs = {name: value for name, value in said.items() if value not in ("", known[name])}
    if theirs.get("lane_queue") == LANE_QUEUE_OF_PLATFORMS:
        made["lane_queue"] = theirs.pop("lane_queue")
    image = theirs.get("launcher_image", "")
    if image and _repository(image) == _repository(known["launcher_image"]):  # whichever of ours it is
        made["launcher_image"] = theirs.pop("launcher_image")
    return Names(
        account=account,
        partition=PARTITION if account == ACCOUNT else partition,
        region=settings.region,
        regions=tuple(dict.fromkeys(regions or settings.infra.regions or (settings.region,))),
        **{**made, **theirs},
        theirs=frozenset(theirs),
        platforms=tuple(sorted(settings.platforms)) or (registry.DEFAULT,),
        tables=settings.platforms,
        notices=(*settings.notify, *(each for each in (settings.notify_secret, settings.mlflow_token) if each)),
        model_registry=settings.registry_region,
        given=settings.infra,
    )


def _repository(image: str) -> str:
    """Return an image's address without its tag and its digest."""
    registry, _, name = image.partition("@")[0].partition("/")
    return f"{registry}/{name.partition(':')[0]}"


def partition_of(region: str) -> str:
    """Return the part of the world that a Region belongs to, as ARNs name it."""
    return next((partition for prefix, partition in _PARTITIONS.items() if region.startswith(prefix)), "aws")


def account_of_roles(settings: Settings) -> str:
    """Return the account that the settings' roles belong to; empty if they name none."""
    found = (getattr(settings, name) or "" for name in ROLES)
    return next((role.split(":")[4] for role in found if role.count(":") >= 5), "")
