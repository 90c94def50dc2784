"""What the platform needs in an account."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.account.finding import Finding
    from orchestrator.platforms.account.wanted import Wanted
    from orchestrator.platforms.feed import Feed
    from orchestrator.platforms.lives import Alive, StepTaken
    from orchestrator.wire.result import Attempt
    from orchestrator.wire.task import Lane
    from orchestrator.wire.template import Template

_OUTPUTS = "arn:aws:s3:::*/runs/*/trial/*"


class TrialOperating:
    """Knows what it takes to run here: see `platforms.account.operating.Operating` for what each method promises."""

    def permissions(self, role: str) -> Sequence[Mapping[str, object]]:
        if role not in ("submit", "launcher"):
            return ()
        actions = ["s3:GetObject"] if role == "submit" else ["s3:GetObject", "s3:PutObject"]
        return ({"Sid": "KeepOutcomes", "Effect": "Allow", "Action": actions, "Resource": _OUTPUTS},)

    def trusted(self) -> Sequence[str]:
        return ()

    def feeds(self) -> Sequence[Feed]:
        return ()

    def resources(self, wanted: Wanted) -> Mapping[str, Mapping[str, object]]:
        return {}

    def check(self, clients: Clients, wanted: Wanted) -> Iterator[Finding]:
        return iter(())

    def regions(self, clients: Clients) -> Sequence[str]:
        return ()

    def image(self, template: Template, lane: Lane) -> str:
        return ""

    def steps(self, clients: Clients, attempt: Attempt) -> Sequence[StepTaken]:
        return ()

    def alive(self, clients: Clients, region: str) -> Iterator[Alive]:
        return iter(())
