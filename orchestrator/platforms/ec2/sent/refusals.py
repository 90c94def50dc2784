"""What a refusal of RunInstances means for whoever has asked: most of EC2's codes are known to nobody else."""

from __future__ import annotations

from orchestrator.aws.errors import aws_code
from orchestrator.errors import (
    AlreadyExists,
    InvalidRequest,
    NoCapacity,
    NotFound,
    QuotaExceeded,
    SweepError,
    Throttled,
)

_KINDS: tuple[tuple[type[SweepError], tuple[str, ...]], ...] = (
    (
        NoCapacity,
        (
            "InsufficientInstanceCapacity",
            "UnfulfillableCapacity",
            "InsufficientCapacity",
            "SpotMaxPriceTooLow",
            "InsufficientHostCapacity",
            "InsufficientReservedInstanceCapacity",
            # A reservation that is full, has not begun, or is over: another place may have instances.
            "ReservationCapacityExceeded",
            "InvalidCapacityReservationState",
            "InvalidCapacityReservationState.PendingActivation",
            "InvalidCapacityReservationId.NotFound",
            "Unsupported",  # no such type in that zone: another attempt takes another
            "InsufficientFreeAddressesInSubnet",
        ),
    ),
    (
        QuotaExceeded,
        ("VcpuLimitExceeded", "InstanceLimitExceeded", "MaxSpotInstanceCountExceeded", "VolumeLimitExceeded"),
    ),
    (Throttled, ("RequestLimitExceeded",)),
    (AlreadyExists, ("IdempotentParameterMismatch",)),
)
"""RunInstances' refusals, by what they mean."""
_SUBMIT = "submit the sweep again, under another --name"
_HINTS = {
    "InvalidAMIID": f"the image was there when the run was submitted, and is gone since: {_SUBMIT}",
    "InvalidSubnetID": f"it was there when the run was submitted: mend platforms.ec2.network, and {_SUBMIT}",
    "InvalidGroup": f"mend the security groups of platforms.ec2.network, and {_SUBMIT}",
    "InvalidSecurityGroupID": f"mend the security groups of platforms.ec2.network, and {_SUBMIT}",
    "InvalidKeyPair": f"mend platforms.ec2.key_name, and {_SUBMIT}",
}
"""What to do about what is not there any more, by the beginnings of EC2's codes."""
_PROFILE = "the instance profile is not there: `sweep infra deploy` makes it, and `sweep doctor` looks at it"


def kind_of_refusal(code: str) -> type[SweepError] | None:
    """Return which of our errors a code of RunInstances is; None where all services mean the same by it."""
    return next((kind for kind, codes in _KINDS if code in codes), None)


def read_refusal(error: SweepError) -> SweepError:
    """Return what an error of RunInstances is to whoever has asked: of another kind, or with a hint of its own."""
    code = aws_code(error)
    kind = kind_of_refusal(code)
    if kind is not None:
        return error if isinstance(error, kind) else kind(error.message, where=error.where, hint=error.hint)
    hint = _HINTS.get(code.partition(".")[0], "")
    if code == "InvalidParameterValue" and "iamInstanceProfile" in error.message:
        hint = _PROFILE
    if hint and isinstance(error, InvalidRequest | NotFound):
        return InvalidRequest(error.message, where=error.where, hint=hint)
    return error
