"""What the platform needs in an account."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.platforms.feed import Feed

_OUTPUTS = "arn:aws:s3:::*/runs/*/trial/*"


class TrialOperating:
    """Knows what it takes to run here: see `platforms.base.Operating` for what each method promises."""

    def permissions(self, role: str) -> Sequence[Mapping[str, object]]:
        if role not in ("submit", "launcher"):
            return ()
        actions = ["s3:GetObject"] if role == "submit" else ["s3:GetObject", "s3:PutObject"]
        return ({"Sid": "KeepOutcomes", "Effect": "Allow", "Action": actions, "Resource": _OUTPUTS},)

    def feeds(self) -> Sequence[Feed]:
        return ()
