"""Feeds land whole or not at all, one that fails stops no other, and what has not changed adds nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from orchestrator.aws.errors import aws_errors
from orchestrator.aws.session import Clients
from orchestrator.errors import AccessDenied, NoCredentials, Throttled, UsageError
from orchestrator.feeds.feeds import Feeds
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


def use(quota: str, used: int, region: str = "us-east-1") -> dict[str, Any]:
    return {"platform": "sagemaker", "region": region, "quota": quota, "used": used}


def of_now(*rows: dict[str, Any], kind: str = "quota_use", name: str = "use-now") -> Feed:
    """A feed of what is there now: there may be nothing."""

    def read(clients: Clients, region: str, now: datetime) -> Reading:  # noqa: ARG001
        return Reading(tuple(row for row in rows if row["region"] == region))

    return Feed(name, kind, "what the test says", (), read, may_be_empty=True)


def test_what_is_there_no_longer_is_removed_in_its_region_alone(empty: Catalog) -> None:
    both = ("us-east-1", "eu-west-1")
    first = (use("*/*", 3), use("ml.g5.xlarge/spot", 3), use("*/*", 5, "eu-west-1"))
    refreshed(empty, of_now(*first), regions=both)
    (again,) = refreshed(empty, of_now(use("*/*", 1)))
    assert (again.added, again.unchanged, again.removed) == (1, 0, 1)
    known = {(row["region"], row["quota"]): row["used"] for row in empty.show("quota_use")}
    assert known == {("us-east-1", "*/*"): 1, ("eu-west-1", "*/*"): 5}


def test_nothing_is_a_good_answer_of_a_feed_that_may_find_nothing(empty: Catalog) -> None:
    refreshed(empty, of_now(use("*/*", 3)))
    (again,) = refreshed(empty, of_now())
    assert (again.error, again.removed) == (None, 1)


def test_what_a_file_told_stays_when_a_feed_tells_it_no_longer(empty: Catalog) -> None:
    empty.take({"quota_use": {1: use("*/spot", 2)}}, "ours.csv")
    refreshed(empty, of_now(use("*/*", 3)))
    refreshed(empty, of_now())
    assert [row["quota"] for row in empty.show("quota_use")] == ["*/spot"]


def test_a_feed_of_all_regions_at_once_is_asked_once(empty: Catalog) -> None:
    asked = []

    def read(clients: Clients, region: str, now: datetime) -> Reading:  # noqa: ARG001
        asked.append(region)
        return Reading(())

    feed = Feed("plans", "commitments", "what is paid for", (), read, may_be_empty=True, everywhere=True)
    (one,) = refreshed(empty, feed, regions=("us-east-1", "eu-west-1"))
    assert (asked, one.region) == (["*"], "*")


def test_a_quota_whose_code_was_not_known_before_is_told_anew_once(empty: Catalog) -> None:
    quota = {"platform": "sagemaker", "region": "us-east-1", "quota": "ml.g5.xlarge/spot", "units": 8}
    added = []
    for hour, code in enumerate((None, None, "sagemaker/L-A", "sagemaker/L-A")):
        told = feed(quota | {"code": code}, name="quotas", kind="quotas")
        added += [one.added for one in refreshed(empty, told, now=NOW + timedelta(hours=hour))]
    assert added == [1, 0, 1, 0]


def refusing(code: str, *regions: str) -> Feed:
    """A feed to which AWS answers so in these Regions, and tells a price in all others."""
    told = feed(price("us-east-1", 1.4))

    def read(clients: Clients, region: str, now: datetime) -> Reading:
        with aws_errors("ask", where=region):
            if region in regions:
                raise ClientError({"Error": {"Code": code, "Message": "The security token is invalid"}}, "Ask")
        return told.read(clients, region, now)

    return Feed("asks", "prices", "what the test says", (), read)


@pytest.mark.parametrize("code", ["AuthFailure", "UnrecognizedClientException", "InvalidClientTokenId"])
def test_a_region_that_is_not_enabled_stops_no_other(empty: Catalog, code: str) -> None:
    closed, done = refreshed(empty, refusing(code, "me-south-1"), regions=("me-south-1", "us-east-1"))
    assert "me-south-1 is not enabled in this account" in str(closed.error)
    assert (done.error, prices(empty)) == (None, [("us-east-1", 1.4)])


def test_credentials_that_have_expired_stop_everything(empty: Catalog) -> None:
    with pytest.raises(NoCredentials):
        refreshed(empty, refusing("ExpiredToken", "me-south-1"), regions=("me-south-1", "us-east-1"))


def test_what_a_wrong_clock_has_dated_to_come_hides_nothing(empty: Catalog) -> None:
    refreshed(empty, feed(price("us-east-1", 9.9)), now=NOW + timedelta(days=400))
    (one,) = refreshed(empty, feed(price("us-east-1", 1.4)))
    assert prices(empty) == [("us-east-1", 1.4)]
    assert one.left_out == ("1 observations of times to come, by a wrong clock: they were removed",)


def test_what_others_have_dated_to_come_stays_and_is_named(empty: Catalog) -> None:
    empty.take({"prices": {1: price("us-east-1", 9.9) | {"observed_at": NOW + timedelta(days=400)}}}, "ours.csv")
    refreshed(empty, feed(price("us-east-1", 1.4)))
    said = [problem.message for problem in empty.check(NOW)]
    lane = "sagemaker/us-east-1/ml.g5.xlarge/on_demand"
    told = f"not used, for it is dated later than now: {lane} of 2027-12-27 03:00 UTC in ours.csv"
    assert f"{told}; load it again with the right observed_at" in said


def test_regions_are_taken_one_after_the_other_and_prices_on_demand_first(empty: Catalog) -> None:
    spot = [price(region, 0.5, "spot") for region in ("us-east-1", "eu-west-1")]
    on_demand = [price(region, 1.5) for region in ("us-east-1", "eu-west-1")]
    done = refreshed(empty, feed(*on_demand), feed(*spot, name="spot"), regions=("us-east-1", "eu-west-1"))
    assert [(one.region, one.feed, one.added) for one in done] == [
        ("us-east-1", "prices-today", 1),
        ("us-east-1", "spot", 1),
        ("eu-west-1", "prices-today", 1),
        ("eu-west-1", "spot", 1),
    ]


def test_where_only_what_is_old_is_wanted_young_facts_are_not_asked_for(
    empty: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(timezone.utc)
    spot = replace(feed(price("us-east-1", 0.5, "spot"), name="spot"), is_spot=True)
    used = Feed("use", "quota_use", "what is used now", (), lambda *_: Reading(()), may_be_empty=True)
    both = (feed(price("us-east-1", 1.4)), spot, used)
    monkeypatch.setattr("orchestrator.feeds.feeds.every_feed", lambda: both)
    feeds = Feeds(empty, Clients(), "us-east-1")

    def asked(age: timedelta) -> list[str]:
        refreshed(empty, *both, now=now - age)
        return [one.feed for one in feeds.refresh(regions=["us-east-1"], only_old=True)]

    assert asked(timedelta(hours=1)) == ["use"]
    assert asked(timedelta(hours=25)) == ["spot", "use"]
    assert asked(timedelta(days=31)) == ["prices-today", "spot", "use"]
    assert len(list(feeds.refresh(regions=["us-east-1"]))) == 3


def test_what_data_costs_to_keep_is_read_in_the_control_region_as_well(empty: Catalog) -> None:
    """A run's own objects lie there, whether any data does or not."""
    kept = replace(feed(name="kept"), at_home=True)
    run = Refresh(empty.observe, Clients(), NOW, home="us-east-1").run
    asked = [(one.feed, one.region) for one in run([kept, feed()], ["eu-west-1"])]
    assert asked == [("kept", "eu-west-1"), ("prices-today", "eu-west-1"), ("kept", "us-east-1")]
    assert [one.region for one in run([kept], ["eu-west-1", "us-east-1"])] == ["eu-west-1", "us-east-1"]
