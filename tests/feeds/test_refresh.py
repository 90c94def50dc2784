"""Feeds land whole or not at all, one that fails stops no other, and what has not changed adds nothing."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.session import Clients
from orchestrator.errors import AccessDenied, NoCredentials, Throttled, UsageError
from orchestrator.feeds.refresh import Refresh, choose_feeds
from orchestrator.platforms.feed import Feed, Reading

if TYPE_CHECKING:
    from orchestrator.catalog.catalog import Catalog
    from orchestrator.feeds.refresh import Refreshed

NOW = datetime(2026, 11, 22, 3, tzinfo=timezone.utc)
LATER = NOW + timedelta(hours=1)


def price(region: str, usd: object, purchase: str = "on_demand", instance_type: str = "ml.g5.xlarge") -> dict[str, Any]:
    return {"region": region, "instance_type": instance_type, "purchase": purchase, "usd_per_hour": usd}


def feed(*rows: dict[str, Any], name: str = "prices-today", kind: str = "prices") -> Feed:
    """A feed that tells these rows in their own Regions, as observed at the moment it is asked."""

    def read(clients: Clients, region: str, now: datetime) -> Reading:  # noqa: ARG001
        return Reading(tuple({**row, "observed_at": now} for row in rows if row["region"] == region))

    return Feed(name, kind, "what the test says", ("pricing:GetProducts",), read)


def broken(error: Exception, name: str = "broken") -> Feed:
    def read(*_: Any) -> Reading:
        raise error

    return Feed(name, "prices", "nothing", ("pricing:GetProducts",), read)


def refreshed(
    catalog: Catalog, *feeds: Feed, regions: tuple[str, ...] = ("us-east-1",), now: datetime = NOW
) -> list[Refreshed]:
    return list(Refresh(catalog.observe, Clients(), now).run(feeds, regions))


def prices(catalog: Catalog) -> list[tuple[str, float]]:
    return [(row["region"], row["usd_per_hour"]) for row in catalog.show("prices")]


def test_what_a_feed_reads_is_in_the_catalog(empty: Catalog) -> None:
    (one,) = refreshed(empty, feed(price("us-east-1", "1.4")))
    assert (one.added, one.unchanged, one.error) == (1, 0, None)
    (row,) = empty.show("prices")
    assert (row["usd_per_hour"], row["source"], row["observed_at"]) == (1.4, "prices-today", NOW)


def test_a_second_time_nothing_changes(empty: Catalog) -> None:
    refreshed(empty, feed(price("us-east-1", 1.4)))
    before = empty.show("prices")
    (again,) = refreshed(empty, feed(price("us-east-1", 1.4)), now=LATER)
    assert (again.added, again.unchanged) == (0, 1)
    assert empty.show("prices") == before


def test_a_new_price_stands_beside_the_old_one(empty: Catalog) -> None:
    refreshed(empty, feed(price("us-east-1", 1.4)))
    refreshed(empty, feed(price("us-east-1", 1.5)), now=LATER)
    assert [(row["usd_per_hour"], row["observed_at"]) for row in empty.show("prices")] == [(1.4, NOW), (1.5, LATER)]


def test_a_price_that_comes_back_is_new_again(empty: Catalog) -> None:
    for hour, usd in enumerate((1.4, 1.5, 1.4)):
        refreshed(empty, feed(price("us-east-1", usd)), now=NOW + timedelta(hours=hour))
    assert [usd for _, usd in prices(empty)] == [1.4, 1.5, 1.4]


def test_a_feed_that_fails_stops_no_other(empty: Catalog) -> None:
    slow_down = broken(Throttled("slow down"))
    failed, done = refreshed(empty, slow_down, feed(price("us-east-1", 1.4)))
    assert isinstance(failed.error, Throttled)
    assert done.error is None
    assert prices(empty) == [("us-east-1", 1.4)]


def test_a_region_that_fails_stops_no_other(empty: Catalog) -> None:
    wrong = feed(price("us-east-1", "a lot"), price("eu-west-1", 1.6))
    failed, done = refreshed(empty, wrong, regions=("us-east-1", "eu-west-1"))
    assert str(failed.error) == "prices-today us-east-1:1:usd_per_hour: 'a lot' is not a number"
    assert done.error is None
    assert prices(empty) == [("eu-west-1", 1.6)]


@pytest.mark.parametrize("usd", ["nan", "-1", "", None, "1,40"])
def test_one_wrong_row_keeps_out_its_whole_region(empty: Catalog, usd: object) -> None:
    (one,) = refreshed(empty, feed(price("us-east-1", 1.4), price("us-east-1", usd, instance_type="ml.g5.2xlarge")))
    assert "prices-today us-east-1:2:usd_per_hour" in str(one.error)
    assert prices(empty) == []


def test_rows_with_one_key_are_refused(empty: Catalog) -> None:
    (one,) = refreshed(empty, feed(price("us-east-1", 1.4), price("us-east-1", 1.5)))
    assert "the same" in str(one.error)


def test_an_empty_answer_is_told(empty: Catalog) -> None:
    (one,) = refreshed(empty, feed(), regions=("eu-wst-1",))
    assert str(one.error) == "eu-wst-1: AWS knows nothing of it there (is that the name of a Region?)"


def test_spot_without_its_price_on_demand_is_left_out_and_told(empty: Catalog) -> None:
    spot = [price("us-east-1", 0.5, "spot"), price("us-east-1", 0.9, "spot", "ml.g5.2xlarge")]
    (_, one) = refreshed(empty, feed(price("us-east-1", 1.4)), feed(*spot, name="spot"))
    assert (one.added, one.left_out) == (1, ("1 spot prices of types without a price on demand",))


def test_what_is_not_allowed_is_told_with_the_action(empty: Catalog) -> None:
    (one,) = refreshed(empty, broken(AccessDenied("no")))
    assert one.missing_actions == ("pricing:GetProducts",)


def test_without_credentials_nothing_else_is_asked(empty: Catalog) -> None:
    with pytest.raises(NoCredentials):
        refreshed(empty, broken(NoCredentials("none")), feed(price("us-east-1", 1.4)))


@pytest.mark.parametrize("fault", [KeyError("a fault of ours"), KeyboardInterrupt()])
def test_a_fault_of_ours_is_not_hidden(empty: Catalog, fault: Any) -> None:
    with pytest.raises(type(fault)):
        refreshed(empty, broken(fault))


def test_feeds_are_chosen_by_name() -> None:
    one, other = feed(name="one"), feed(name="other")
    assert choose_feeds([one, other], []) == [one, other]
    assert choose_feeds([one, other], ["other"]) == [other]
    with pytest.raises(UsageError, match="did you mean 'other'"):
        choose_feeds([one, other], ["othr"])


def test_quotas_and_transfers_are_taken_in_by_the_same_way(empty: Catalog) -> None:
    quota = {"platform": "sagemaker", "region": "us-east-1", "quota": "ml.g5.xlarge/spot", "units": 8}
    (one,) = refreshed(empty, feed(quota, name="quotas", kind="quotas"))
    assert (one.added, one.error) == (1, None)
    assert [row["units"] for row in empty.show("quotas")] == [8]
