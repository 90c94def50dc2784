"""RunInstances as it is sent, held against botocore's own description of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import botocore.session
import pytest
from botocore.validate import ParamValidator

from orchestrator.errors import InvalidRequest
from orchestrator.platforms.ec2.sent.request import make_request
from orchestrator.wire.task import Purchase
from tests.platforms.ec2.ec2_sweeps import PROFILE, ec2_sweep, place, task, template

if TYPE_CHECKING:
    from orchestrator.wire.template import Template

RESERVATIONS = {
    "cr-0123": {"zone": "eu-west-1b", "block": False},
    "cr-block": {"zone": "eu-west-1a", "block": True},
    "cr-far": {"zone": "eu-west-1c", "block": False},
}


def sent(asked: Template | None = None, **more: Any) -> dict[str, Any]:
    """Return what RunInstances is sent for a place like this."""
    at = place(**more)
    run: dict[str, Any] = make_request(asked or template(), task(at), at, 1, 3600).body["run"]
    return run


def reserved(site: str, **more: Any) -> dict[str, Any]:
    return sent(template(reservations=RESERVATIONS), purchase=Purchase.COMMITTED, site=site, rate=0.0, **more)


def test_one_instance_is_asked_for_that_ends_itself_and_takes_nothing_with_it() -> None:
    run = sent()
    assert (run["MinCount"], run["MaxCount"], run["InstanceType"]) == (1, 1, "g5.xlarge")
    assert run["InstanceInitiatedShutdownBehavior"] == "terminate"
    assert run["IamInstanceProfile"] == PROFILE
    assert run["MetadataOptions"] == {
        "HttpTokens": "required",
        "HttpPutResponseHopLimit": 2,
        "HttpEndpoint": "enabled",
        "InstanceMetadataTags": "enabled",
    }
    volume = {"VolumeSize": 60, "VolumeType": "gp3", "DeleteOnTermination": True}
    assert run["BlockDeviceMappings"] == [{"DeviceName": "/dev/sda1", "Ebs": volume}]
    assert (run["SubnetId"], run["SecurityGroupIds"]) == ("subnet-a", ["sg-1"])
    assert "InstanceMarketOptions" not in run
    assert [one["ResourceType"] for one in run["TagSpecifications"]] == ["instance", "volume", "network-interface"]
    assert len(run["ClientToken"]) <= 64


def test_the_watchdog_comes_first_and_whatever_happens_the_instance_ends() -> None:
    first, watchdog, last, trap, *_ = sent()["UserData"].splitlines()
    assert first == "#!/bin/bash"
    assert watchdog.startswith("systemd-run --on-boot=4320s shutdown -h now")
    assert last.startswith("systemd-run --on-boot=4470s --timer-property=DefaultDependencies=no")
    assert " poweroff -ff || (sleep 4470; poweroff -ff) &" in last
    assert trap == "trap 'shutdown -h now' EXIT"
    assert len(sent()["UserData"].encode()) < 16_384


def test_spot_is_for_one_time_and_its_bid_is_the_rate() -> None:
    run = sent(purchase=Purchase.SPOT)
    assert run["InstanceMarketOptions"] == {
        "MarketType": "spot",
        "SpotOptions": {
            "SpotInstanceType": "one-time",
            "InstanceInterruptionBehavior": "terminate",
            "MaxPrice": "1.500000",
        },
    }
    assert "spot-instances-request" in [one["ResourceType"] for one in run["TagSpecifications"]]


def test_several_instances_come_together_or_not_at_all() -> None:
    run = sent(instances=3)
    assert (run["MinCount"], run["MaxCount"], run["Placement"]) == (3, 3, {"GroupName": "nightly-912-1"})


def test_instances_with_adapters_have_one_on_each_card_and_no_subnet_beside_them() -> None:
    run = sent(instance_type="p5.48xlarge", instances=2)
    cards = run["NetworkInterfaces"]
    assert [card["NetworkCardIndex"] for card in cards] == list(range(32))
    assert [card["InterfaceType"] for card in cards] == ["efa", *["efa-only"] * 31]
    assert {card["DeviceIndex"] for card in cards[1:]} == {1}
    assert all(card["SubnetId"] == "subnet-a" and card["Groups"] == ["sg-1"] for card in cards)
    assert not {"SubnetId", "SecurityGroupIds"} & run.keys()


@pytest.mark.parametrize(
    ("site", "attempt", "subnet"),
    [("", 1, "subnet-a"), ("", 2, "subnet-b"), ("eu-west-1b", 1, "subnet-b"), ("subnet-a", 2, "subnet-a")],
)
def test_a_site_is_a_zone_or_a_subnet_and_without_one_attempts_take_turns(site: str, attempt: int, subnet: str) -> None:
    at = place(site=site)
    assert make_request(template(), task(at), at, attempt, 3600).body["run"]["SubnetId"] == subnet


@pytest.mark.parametrize(
    ("purchase", "attempt", "subnet"),
    [
        (Purchase.SPOT, 1, "subnet-b"),
        (Purchase.SPOT, 2, "subnet-a"),
        (Purchase.SPOT, 3, "subnet-b"),
        (Purchase.ON_DEMAND, 1, "subnet-a"),
    ],
)
def test_spot_is_asked_for_in_the_cheapest_zone_first(purchase: Purchase, attempt: int, subnet: str) -> None:
    prices = {"g5.xlarge": {"eu-west-1a": 0.6, "eu-west-1b": 0.4}}
    at = place(purchase=purchase)
    request = make_request(template(zone_prices=prices), task(at), at, attempt, 3600)
    assert request.body["run"]["SubnetId"] == subnet


@pytest.mark.parametrize("site", ["cr-0123", "arn:aws:ec2:eu-west-1:111122223333:capacity-reservation/cr-0123"])
def test_a_reservation_is_what_a_committed_place_is_bought_from_in_its_zone(site: str) -> None:
    run = reserved(site)
    assert "InstanceMarketOptions" not in run
    assert run["CapacityReservationSpecification"] == {
        "CapacityReservationTarget": {"CapacityReservationId": "cr-0123"}
    }
    assert run["SubnetId"] == "subnet-b"
    assert "Placement" not in reserved(site, instances=2), "a reservation takes no placement group of others"


def test_a_capacity_block_is_a_market_of_its_own() -> None:
    run = reserved("cr-block")
    assert run["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    assert run["SubnetId"] == "subnet-a"


@pytest.mark.parametrize(
    ("site", "says"),
    [
        ("", "without a reservation"),
        ("cr-unknown", "not prepared for the reservation cr-unknown"),
        ("cr-far", "no subnet in eu-west-1c"),
    ],
)
def test_a_reservation_that_cannot_be_used_is_refused(site: str, says: str) -> None:
    with pytest.raises(InvalidRequest, match=says):
        reserved(site)


def test_what_is_bought_on_demand_leaves_reservations_alone_where_these_are_places() -> None:
    assert "CapacityReservationSpecification" not in sent()
    run = sent(template(reservations=RESERVATIONS))
    assert run["CapacityReservationSpecification"] == {"CapacityReservationPreference": "none"}


@pytest.mark.parametrize("site", ["eu-west-1z", "subnet-z"])
def test_a_place_that_nobody_has_prepared_is_refused(site: str) -> None:
    with pytest.raises(InvalidRequest, match=f"no subnet in {site}"):
        sent(site=site)
    with pytest.raises(InvalidRequest, match=r"not prepared for c5\.large"):
        sent(instance_type="c5.large")


def test_tags_that_the_metadata_cannot_show_are_not_shown_there() -> None:
    at = place()
    made = make_request(template(ec2_sweep(tags={"cost centre": "4711"})), task(at), at, 1, 3600).body["run"]
    assert made["MetadataOptions"]["InstanceMetadataTags"] == "disabled"
    assert {"Key": "cost centre", "Value": "4711"} in made["TagSpecifications"][0]["Tags"]


@pytest.mark.parametrize("more", [{}, {"instances": 2, "instance_type": "p5.48xlarge"}, {"purchase": Purchase.SPOT}])
def test_botocore_takes_it(more: dict[str, Any]) -> None:
    model = botocore.session.get_session().get_service_model("ec2").operation_model("RunInstances")
    report = ParamValidator().validate(sent(**more), model.input_shape)
    assert report.generate_report() == ""


def test_the_machines_are_told_what_the_sweep_says() -> None:
    asked = ec2_sweep(
        {
            "channels": {"weights": "s3://team-{region}/weights/"},
            "environment": {"RATE": "{lr}", "DATA": "{data}"},
            "hyperparameters": {"depth": 3},
            "parallel": "torchrun",
            "checkpoints": {"every": "5m"},
        }
    )
    at = place(instances=2)
    body = make_request(template(asked), task(at), at, 2, 3600).body
    told = body["assignment"]
    assert told["channels"]["training"]["uri"] == at.s3_uri
    assert told["channels"]["weights"]["uri"] == "s3://team-eu-west-1/weights/"
    assert told["environment"]["RATE"] == "0.1"
    assert told["environment"]["DATA"] == "/opt/ml/input/data/training"
    assert json.loads(told["hyperparameters"]["sweep_start"])["parallel"] == "torchrun"
    assert (told["hyperparameters"]["lr"], told["hyperparameters"]["depth"]) == ("0.1", "3")
    assert (told["instances"], told["max_runtime_s"], told["kind"]) == (2, 3600, "instance")
    assert told["output"] == "s3://team-eu-west-1/runs/nightly/trainings/nightly-912-2"
    assert body["uri"] == f"{told['output']}/assignment.json"
