"""The part of a platform that sets accounts up and cleans them up: the rest of the contract of `base.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

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


class Operating(Protocol):
    """Knows what the platform needs in an account, what of ours runs there, and where prices and quotas are read."""

    def permissions(self, role: str) -> Sequence[Mapping[str, object]]:
        """Return the statements of an IAM policy that `submit`, `launcher` or `training` needs for this platform.

        `{account}` is the account's number in them, `{buckets}` the Regions' buckets. Any other role needs nothing.
        """
        ...

    def trusted(self) -> Sequence[str]:
        """Return the AWS services that start trainings under the role of trainings; none if that role is not needed.

        The role's trust policy names them, such as `ec2.amazonaws.com`.
        """
        ...

    def feeds(self) -> Sequence[Feed]:
        """Return what AWS can be asked about the platform's prices and quotas, a feed for each question.

        Feeds of spot prices come after those of the prices on demand that they need. Asking costs nothing, and changes
        nothing.
        """
        ...

    def resources(self, wanted: Wanted) -> Mapping[str, Mapping[str, object]]:
        """Return what CloudFormation is to make in a Region for the platform, by the names of its resources there.

        `sweep infra deploy` puts them into the Region's stack. Nothing is asked of AWS.
        """
        ...

    def check(self, clients: Clients, wanted: Wanted) -> Iterator[Finding]:
        """Yield how each thing stands that trainings in a Region need, with the one command that mends it.

        `sweep doctor` asks, after it has looked at what all platforms share: roles, buckets, queues, quotas. Nothing is
        changed. What may not be looked at is a warning, and not said to be missing: see `finding.carefully`.
        """
        ...

    def regions(self, clients: Clients) -> Sequence[str]:
        """Return every Region in which the platform may run trainings, whether the account uses it or not."""
        ...

    def image(self, template: Template, lane: Lane) -> str:
        """Return the container image, by its digest, in which trainings on a lane run; empty if there is none."""
        ...

    def steps(self, clients: Clients, attempt: Attempt) -> Sequence[StepTaken]:
        """Return what a training has gone through so far, in order; nothing if its Region knows no such training.

        What the platform does not tell apart is one step. `sweep why` shows it.
        """
        ...

    def alive(self, clients: Clients, region: str) -> Iterator[Alive]:
        """Yield every training in a Region that has not ended and carries the tags of a run: `sweep reap` asks.

        What carries no tag `sweep:run`, or others that no request of ours has, is none of ours and left out.
        """
        ...
