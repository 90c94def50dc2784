"""The likelihood that EC2 grants spot instances of a family in a Region, from 1 to 10.

It is read only where it is named: AWS answers so many different questions a day, and does not say how many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_code, aws_errors
from orchestrator.errors import InvalidRequest, QuotaExceeded, SweepError
from orchestrator.platforms.feed import Feed, Reading
from orchestrator.wire.shapes import types_of_families

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.aws.session import Clients

_ASKING = "ask how likely spot is"
_FEWEST_TYPES = 3
"""The types that a question should name: of fewer, AWS gives low scores, whatever there is."""
_NO_MORE_TODAY = "MaxConfigLimitExceeded"


def read(clients: Clients, region: str, now: datetime) -> Reading:
    """Return the score of each family with GPUs, for one instance of any of its types in this Region.

    Raise QuotaExceeded if AWS answers no more today.
    """
    families = {name: types for name, types in types_of_families().items() if len(types) >= _FEWEST_TYPES}
    rows, left_out = [], []
    for family, types in families.items():
        try:
            found = _score(clients, region, types)
        except InvalidRequest as error:  # as for types that the Region does not have
            left_out.append(f"{family}: {error.message}")
            continue
        if found is not None:
            rows.append({"platform": "ec2", "region": region, "family": family, "score": found, "observed_at": now})
    return Reading(tuple(rows), tuple(left_out))


def _score(clients: Clients, region: str, types: tuple[str, ...]) -> int | None:
    """Return AWS's score of these types; None where it gives none."""
    client = clients.client("ec2", region)
    try:
        with aws_errors(_ASKING, where=region), understood(_ASKING, where=region):
            answer = client.get_spot_placement_scores(
                InstanceTypes=list(types), TargetCapacity=1, SingleAvailabilityZone=False, RegionNames=[region]
            )
            return next((int(one["Score"]) for one in answer["SpotPlacementScores"] if one["Region"] == region), None)
    except SweepError as error:
        if aws_code(error) != _NO_MORE_TODAY:
            raise
        hint = "it answers only so many different questions a day: ask tomorrow, or of fewer Regions"
        raise QuotaExceeded("AWS tells no more placement scores today", where=region, hint=hint) from error


FEED = Feed(
    name="placement-scores",
    kind="placement_scores",
    about="how likely spot is granted; read only if named, for AWS limits it per day",
    actions=("ec2:GetSpotPlacementScores",),
    read=read,
    only_if_named=True,
)
