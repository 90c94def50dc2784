"""A made-up market: Regions, instance types, and what they cost. All figures are made from names, by a hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Region:
    """A Region, as AWS's lists write it in different places."""

    name: str
    location: str
    """The Region's name in the Price List."""
    prefix: str
    """The beginning of the Price List's usage types."""
    zone: str
    """The beginning of the ids of its availability zones."""
    level: float
    """The factor by which the Region is dearer than the cheapest ones."""
    letters: str = "abc"
    """The ends of the names of its availability zones."""
    numbers: str = "123"
    """The ends of their ids, in the same order. These are moto's, whose subnets lie in these zones."""

    @property
    def zones(self) -> list[tuple[str, str]]:
        """The availability zones, each with its name and its id. AWS shuffles the names for every account."""
        both = zip(self.letters, self.numbers, strict=True)
        return [(f"{self.name}{letter}", f"{self.zone}-az{number}") for letter, number in both]


REGIONS = {
    region.name: region
    for region in (
        Region("us-east-1", "US East (N. Virginia)", "USE1", "use1", 1.0, "abcdef", "612435"),
        Region("us-east-2", "US East (Ohio)", "USE2", "use2", 1.0),
        Region("us-west-1", "US West (N. California)", "USW1", "usw1", 1.18, "ab", "31"),
        Region("us-west-2", "US West (Oregon)", "USW2", "usw2", 1.0, "abcd", "2134"),
        Region("ca-central-1", "Canada (Central)", "CAN1", "cac1", 1.1, "abd", "124"),
        Region("sa-east-1", "South America (Sao Paulo)", "SAE1", "sae1", 1.6),
        Region("eu-west-1", "EU (Ireland)", "EU", "euw1", 1.12, numbers="312"),
        Region("eu-west-2", "EU (London)", "EUW2", "euw2", 1.17, numbers="231"),
        Region("eu-central-1", "EU (Frankfurt)", "EUC1", "euc1", 1.15),
        Region("eu-north-1", "EU (Stockholm)", "EUN1", "eun1", 1.06),
        Region("ap-south-1", "Asia Pacific (Mumbai)", "APS3", "aps1", 1.03, numbers="132"),
        Region("ap-southeast-1", "Asia Pacific (Singapore)", "APS1", "apse1", 1.2),
        Region("ap-southeast-2", "Asia Pacific (Sydney)", "APS2", "apse2", 1.24, numbers="132"),
        Region("ap-northeast-1", "Asia Pacific (Tokyo)", "APN1", "apne1", 1.27, "acd", "412"),
        Region("ap-northeast-2", "Asia Pacific (Seoul)", "APN2", "apne2", 1.2, "abcd", "1234"),
    )
}

_FAMILIES = {
    "c5": (0.043, {"large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16, "9xlarge": 36, "18xlarge": 72}),
    "c6i": (0.042, {"large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "16xlarge": 64}),
    "m5": (0.049, {"large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16, "12xlarge": 48, "24xlarge": 96}),
    "m6i": (0.047, {"large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "16xlarge": 64}),
    "r5": (0.064, {"large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16, "12xlarge": 48, "24xlarge": 96}),
    "g4dn": (0.11, {"xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "12xlarge": 48, "16xlarge": 64}),
    "g5": (0.2, {"xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "12xlarge": 48, "48xlarge": 192}),
    "g6": (0.17, {"xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "12xlarge": 48, "48xlarge": 192}),
    "p3": (0.38, {"2xlarge": 8, "8xlarge": 32, "16xlarge": 64}),
    "p4d": (0.33, {"24xlarge": 96}),
    "p5": (0.5, {"48xlarge": 192}),
    "trn1": (0.16, {"2xlarge": 8, "32xlarge": 128}),
}
"""Families of instance types: the dollars for an hour of a vCPU, and how many vCPUs each size has."""

VCPUS = {f"{family}.{size}": vcpus for family, (_, sizes) in _FAMILIES.items() for size, vcpus in sizes.items()}
"""The vCPUs of each instance type."""
_TRAINING_FACTOR = 1.2
"""An instance costs that many times as much in a training as it does in EC2."""


def is_offered(instance_type: str, region: str) -> bool:
    """Say whether a Region has an instance type. Rare ones are not everywhere."""
    rare = instance_type.startswith(("p4d", "p5", "trn1"))
    return instance_type in VCPUS and (not rare or _draw(region, instance_type.partition(".")[0]) < 0.6)


def on_demand_price(instance_type: str, region: str, *, training: bool = False) -> float:
    """Return the dollars for an hour on demand, in EC2 or in a training."""
    family = instance_type.partition(".")[0]
    rate = _FAMILIES[family][0] * VCPUS[instance_type] * REGIONS[region].level
    return round(rate * (_TRAINING_FACTOR if training else 1.0), 4)


def spot_price(instance_type: str, zone: str, region: str, step: int) -> float:
    """Return the dollars for an hour of spot in one zone, which change a little with each step of time.

    They are a share of the price on demand, and never exceed it.
    """
    share = 0.25 + 0.5 * _draw(zone, instance_type)
    change = 0.85 + 0.3 * _draw(zone, instance_type, str(step))
    return round(on_demand_price(instance_type, region) * min(1.0, share * change), 4)


def placement_score(instance_types: list[str], where: str, capacity: int) -> int:
    """Return how likely EC2 says spot is, from 1 to 10: likelier with many types and a small capacity."""
    chance = max((_draw(where, each, "score") for each in instance_types), default=0.0)
    return max(1, min(10, round(10 * chance) - len(str(capacity)) + 2))


def interruption_band(instance_type: str, region: str, bands: int) -> int:
    """Return in which of so many bands a type's interruptions are; the first, the rarest, is the likeliest."""
    return int(bands * _draw(region, instance_type, "taken back") ** 2)


def transfer_price(source: str, destination: str) -> float:
    """Return the dollars for a gigabyte from one Region to another: less between neighbours, more from dear Regions."""
    if {source, destination} == {"us-east-1", "us-east-2"}:
        return 0.01
    surcharge = 3.5 * _draw(source) if REGIONS[source].level > 1.19 else 0.0
    return round(0.02 * (1 + surcharge), 3)


def storage_tiers(region: str) -> tuple[tuple[int, float], ...]:
    """Return the dollars for a gigabyte in S3 Standard for a month, from where each tier begins."""
    usd = round(0.023 * REGIONS[region].level, 4)
    return (0, usd), (51_200, round(usd - 0.001, 4)), (512_000, round(usd - 0.002, 4))


def _draw(*words: str) -> float:
    """Return a number between 0 and 1 that depends on the words alone."""
    return int.from_bytes(hashlib.sha256("/".join(words).encode()).digest()[:8], "big") / 2**64
