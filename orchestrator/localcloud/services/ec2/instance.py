"""An instance, and the reservation that it was launched with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.machines.instance.address import free_port

if TYPE_CHECKING:
    from orchestrator.localcloud.clock import Alarm
    from orchestrator.localcloud.services.ec2.kept import CapacityReservation
    from orchestrator.localcloud.services.moto.ec2 import Image, Profile, Subnet

CODES = {"pending": 0, "running": 16, "shutting-down": 32, "terminated": 48, "stopping": 64, "stopped": 80}
"""EC2's states of an instance, with their codes."""
ALIVE = ("pending", "running")
SHUTDOWN_BY_USER = ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown")
SHUTDOWN_FROM_WITHIN = (
    "Client.InstanceInitiatedShutdown",
    "Client.InstanceInitiatedShutdown: Instance initiated shutdown",
)
TAKEN_BACK = ("Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination")
NO_CAPACITY = (
    "Server.InsufficientInstanceCapacity",
    "Server.InsufficientInstanceCapacity: Insufficient instance capacity to satisfy launch request",
)
BROKEN = ("Server.InternalError", "Server.InternalError: Internal error on launch")
"""The codes and the words of what ends an instance, as DescribeInstances' StateReason has them."""


@dataclass(frozen=True)
class Interface:
    """A network interface of an instance."""

    id: str
    index: int
    card: int
    kind: str
    """Its type: interface, efa, efa-only."""
    address: str
    mac: str
    attachment: str
    groups: tuple[str, ...]
    keep: bool
    """True when it is to outlive its instance."""


@dataclass(frozen=True)
class Volume:
    """A volume of an instance."""

    id: str
    device: str
    keep: bool
    """True when it is to outlive its instance."""


@dataclass(eq=False)
class Reservation:
    """What one RunInstances launched. Moments are seconds since 1970."""

    id: str
    region: str
    request: dict[str, Any]
    """The request, in boto3's names."""
    launched: float
    subnet: Subnet
    image: Image
    profile: Profile | None
    groups: dict[str, str]
    """The names of its security groups, by their ids."""
    instances: list[Instance] = field(default_factory=list)
    port: int = field(default_factory=free_port)
    """A free port of this machine, at which its instances may meet: all of them are this machine."""

    @property
    def spot(self) -> bool:
        """True for spot instances."""
        return bool(self.request.get("InstanceMarketOptions", {}).get("MarketType") == "spot")

    @property
    def instance_type(self) -> str:
        """The type of its instances."""
        return str(self.request["InstanceType"])

    @property
    def placement_group(self) -> str:
        """The name of the placement group; empty if there is none."""
        return str(self.request.get("Placement", {}).get("GroupName", ""))

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata options, with EC2's defaults."""
        return {
            "HttpTokens": "optional",
            "HttpPutResponseHopLimit": 1,
            "HttpEndpoint": "enabled",
            "InstanceMetadataTags": "disabled",
            **self.request.get("MetadataOptions", {}),
        }


@dataclass(eq=False)
class Instance:
    """One instance with all that has happened to it. The lifecycle's lock guards it."""

    id: str
    index: int
    """Its number in its reservation, from 0."""
    reservation: Reservation
    address: str
    """Its private address."""
    spot_request: str = ""
    reserved_by: CapacityReservation | None = None
    """The capacity reservation that it was launched into."""
    interfaces: list[Interface] = field(default_factory=list)
    volumes: list[Volume] = field(default_factory=list)
    state: str = "pending"
    reason: tuple[str, str] = ("", "")
    """The code and the words of the StateReason."""
    since: float | None = None
    """When it began to run."""
    ended: float | None = None
    """When it began to shut down, for the last time."""
    shown_from: float = 0.0
    """When calls begin to find it."""
    notice: float | None = None
    """When it will be taken back, once that has been told."""
    rebalance: float | None = None
    """When it was recommended to move elsewhere."""
    alarms: list[Alarm] = field(default_factory=list)
    """Timers of its own, which end with it."""

    @property
    def alive(self) -> bool:
        """True until it shuts down."""
        return self.state in ALIVE

    @property
    def region(self) -> str:
        """The Region that it runs in."""
        return self.reservation.region

    def seconds(self, now: float) -> float:
        """Return for how long it has run, which is what EC2 bills."""
        if self.since is None:
            return 0.0
        return (self.ended or now) - self.since
