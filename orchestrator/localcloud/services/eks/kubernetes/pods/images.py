"""Which images can a node pull? One of no repository of this account is taken for there, as it is elsewhere here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.localcloud.iam.service_roles import IMAGE

if TYPE_CHECKING:
    from orchestrator.localcloud.services.moto.images import Repositories


@dataclass(frozen=True)
class Images:
    """The images of an account."""

    account: str
    repositories: Repositories

    def why_not(self, image: str) -> str:
        """Return why an image cannot be pulled, in a kubelet's words; nothing if it can."""
        found = IMAGE.match(image)
        if found is None or found["account"] != self.account or not self.repositories.has(found["name"]):
            return ""
        which = image[found.end() :][1:] or "latest"
        if self.repositories.has_image(found["region"], found["name"], which):
            return ""
        return f'Back-off pulling image "{image}": failed to resolve reference "{image}": {image}: not found'
