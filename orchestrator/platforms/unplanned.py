"""What a platform's runner may be able to do besides: trainings of manifests that nobody has planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.wire.task import Lane


@runtime_checkable
class MakesTemplates(Protocol):
    """A runner that can also make of variables what `Planning.stage` makes of a sweep.

    It is asked by launchers whose manifest nobody has planned (`launcher/classic.py`). No platform has to have it.
    """

    def make_body(self, environ: Mapping[str, str], lane: Lane) -> dict[str, Any]:
        """Return the body of the template for a lane's Region, from the variables of the launcher's job definition.

        The same variables make the same body. Nothing is sent. Raise UsageError, naming the variable.
        """
        ...
