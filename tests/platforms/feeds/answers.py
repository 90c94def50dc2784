"""AWS's answers to feeds, page by page, as boto3 gives them; and what was asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class Answers:
    """Stands for `Clients`: every service answers with these pages."""

    def __init__(self, *pages: dict[str, Any]) -> None:
        self.pages = pages
        self.asked: dict[str, Any] = {}

    def client(self, service: str, region: str) -> Answers:
        self.asked |= {"service": service, "region": region}
        return self

    def get_paginator(self, operation: str) -> Answers:
        self.asked["operation"] = operation
        return self

    def paginate(self, **arguments: Any) -> Iterator[dict[str, Any]]:
        self.asked |= arguments
        return iter(self.pages)


def price_list(*products: dict[str, Any] | str) -> dict[str, Any]:
    """A page of GetProducts."""
    return {"PriceList": [one if isinstance(one, str) else json.dumps(one) for one in products]}


def product(usd: str | None, **attributes: str) -> dict[str, Any]:
    """A product with one price, or, without dollars, with one in another currency."""
    unit = {"CNY": "9.1"} if usd is None else {"USD": usd}
    dimension = {"unit": "Hrs", "beginRange": "0", "endRange": "Inf", "pricePerUnit": unit}
    return {"product": {"attributes": attributes}, "terms": {"OnDemand": {"t": {"priceDimensions": {"d": dimension}}}}}
