"""Spot instances: UserGuide/spot-instance-termination-notices.html, UserGuide/rebalance-recommendations.html."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.localcloud import LocalCloudError
from tests.localcloud.services.ec2.conftest import METADATA

if TYPE_CHECKING:
    from orchestrator.localcloud import LocalCloud
    from tests.localcloud.services.ec2.conftest import InstanceDesk

SPOT = {
    "MarketType": "spot",
    "SpotOptions": {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate"},
}
WATCHES = (
    METADATA
    + """echo watching
for path in events/recommendations/rebalance spot/instance-action; do
    until look meta-data/$path | grep -q ' 200'; do sleep 0.1; done
    look meta-data/$path
done
trap 'echo told; exit' TERM
while :; do sleep 0.05; done
"""
)


def request_of(desk: InstanceDesk, name: str) -> dict[str, Any]:
    shown = desk.instance(name) or {}
    ids = [shown["SpotInstanceRequestId"]]
    found: dict[str, Any] = desk.ec2.describe_spot_instance_requests(SpotInstanceRequestIds=ids)[
        "SpotInstanceRequests"
    ][0]
    return found


def test_notice_comes_two_minutes_before_the_end(desk: InstanceDesk, cloud: LocalCloud) -> None:
    name = desk.start(WATCHES, InstanceMarketOptions=SPOT)
    assert (desk.instance(name) or {})["InstanceLifecycle"] == "spot"
    assert request_of(desk, name)["Status"]["Code"] == "fulfilled"
    cloud.steering.add("rebalance", name)
    desk.says(name, "noticeTime")
    cloud.steering.add("reclaim", name)
    desk.says(name, '"action": "terminate"')
    assert request_of(desk, name)["Status"]["Code"] == "marked-for-termination"
    said = re.findall(r"\{.*\}", desk.console(name))
    assert set(json.loads(said[-1])) == {"action", "time"}
    cloud.advance(100)
    assert desk.in_state("running", name)
    cloud.advance(21)
    ended = desk.in_state("terminated", name)
    assert ended["StateReason"]["Code"] == "Server.SpotInstanceTermination"
    assert "told" in desk.console(name)
    request = request_of(desk, name)
    assert (request["State"], request["Status"]["Code"]) == ("closed", "instance-terminated-no-capacity")


@pytest.mark.long
def test_a_notice_may_be_shorter_and_an_instance_named_by_its_tag(desk: InstanceDesk, cloud: LocalCloud) -> None:
    name = desk.start(InstanceMarketOptions=SPOT)
    cloud.steering.add("reclaim", desk.name, seconds=5)
    cloud.advance(6)
    desk.in_state("terminated", name)


@pytest.mark.long
def test_nobody_takes_back_what_is_not_spot(desk: InstanceDesk, cloud: LocalCloud) -> None:
    name = desk.start()
    with pytest.raises(LocalCloudError, match="or it is not spot"):
        cloud.steering.add("reclaim", name)


@pytest.mark.long
def test_a_request_that_is_cancelled_leaves_its_instance_running(desk: InstanceDesk) -> None:
    """UserGuide/spot-requests.html: "Canceling a Spot Instance request does not terminate the instance"."""
    name = desk.start(InstanceMarketOptions=SPOT)
    spot = request_of(desk, name)["SpotInstanceRequestId"]
    desk.ec2.cancel_spot_instance_requests(SpotInstanceRequestIds=[spot])
    request = request_of(desk, name)
    assert (request["State"], request["Status"]["Code"]) == ("cancelled", "request-canceled-and-instance-running")
    assert desk.in_state("running", name)


def test_a_host_that_fails_ends_its_instance_without_a_word(desk: InstanceDesk, cloud: LocalCloud) -> None:
    name = desk.start("#!/bin/bash\ntrap 'echo told; exit' TERM\necho ready\nwhile :; do sleep 0.05; done\n")
    desk.says(name, "ready")
    cloud.steering.add("crash", name)
    ended = desk.in_state("terminated", name)
    assert ended["StateReason"]["Code"] == "Server.InternalError"
    assert "told" not in desk.console(name)


@pytest.mark.long
def test_processes_that_are_killed_leave_an_instance_that_does_nothing(desk: InstanceDesk, cloud: LocalCloud) -> None:
    name = desk.start("#!/bin/bash\ntrap 'shutdown -h now' EXIT\necho ready\nsleep 600\n")
    desk.says(name, "ready")
    cloud.steering.add("kill", name)
    cloud.advance(600)
    assert desk.in_state("running", name)
