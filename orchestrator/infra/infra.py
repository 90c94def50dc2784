"""What can be done with the stacks of an account: written down, deployed, looked at, taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.infra.names import ACCOUNT, names
from orchestrator.infra.template import control_template, region_template, write_template

if TYPE_CHECKING:
    from orchestrator.settings import Settings


class Infra:
    """The stacks that the settings ask for."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def template(self, region: str | None = None) -> str:
        """Return the template of the control Region, or of a Region that is trained in. Nothing is asked of AWS."""
        wanted = names(self._settings, ACCOUNT)
        return write_template(region_template(wanted, region) if region else control_template(wanted))
