"""What a platform's runner may be able to do besides: ask one site of a lane after the other, such as its zones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.wire.task import Place
    from orchestrator.wire.template import Template


@runtime_checkable
class OffersSites(Protocol):
    """A runner whose lanes have parts with machines and prices of their own. No platform has to have it.

    An attempt asks one of them, which is written down as its site: `request` gets the place with that site.
    """

    def sites(self, template: Template, place: Place) -> Sequence[str]:
        """Return the sites that a place without one has now, in the order in which they should be asked.

        It is empty where the place has a site of its own, or its lane no parts. AWS may be asked, and nothing is
        raised: where it gives no answer, the order is that of the template.
        """
        ...
