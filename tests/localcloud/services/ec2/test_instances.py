"""Instances from launch to end, as boto3 sees them. Each rule is AWS's; its page is named."""

from __future__ import annotations

import urllib.request
from typing import TYPE_CHECKING

import pytest
from botocore.exceptions import ConnectionClosedError

from tests.localcloud.conftest import eventually
from tests.localcloud.services.ec2.conftest import METADATA, STAYS, refused

if TYPE_CHECKING:
    from orchestrator.localcloud import LocalCloud
    from tests.localcloud.services.ec2.conftest import InstanceDesk


def test_user_data_runs_and_its_own_shutdown_terminates(desk: InstanceDesk, cloud: LocalCloud) -> None:
    """UserGuide/user-data.html, UserGuide/Using_ChangingInstanceInitiatedShutdownBehavior.html."""
    script = METADATA + "look meta-data/instance-id; echo mark > /opt/ml/mine; ls /opt/ml; pwd; echo $0"
    (launched,) = desk.launch(f"{script}\nsystemd-run --on-active=3600s shutdown -h now\n/sbin/shutdown -h now\n")
    assert (launched["State"], launched["AmiLaunchIndex"]) == ({"Code": 0, "Name": "pending"}, 0)
    ended = desk.in_state("terminated", launched["InstanceId"])
    assert ended["StateReason"]["Code"] == "Client.InstanceInitiatedShutdown"
    said = desk.console(launched["InstanceId"])
    assert f"{launched['InstanceId']} 200\nmine\n" in said
    assert "Running timer as unit: run-1.timer" in said
    assert "PrivateIpAddress" not in ended
    with urllib.request.urlopen(cloud.serving.page, timeout=30) as page:
        assert f"<td>{launched['InstanceId']}</td><td>c5.large</td>" in page.read().decode()
    assert ended["BlockDeviceMappings"] == []


def test_ranks_that_wait_let_those_of_other_instances_run(desk: InstanceDesk) -> None:
    """All instances share this machine's cores, where Open MPI's ranks would spin."""
    said = desk.run("#!/bin/sh\necho yields=$OMPI_MCA_mpi_yield_when_idle threads=$OMP_NUM_THREADS")
    assert "yields=1 threads=1\n" in said


@pytest.mark.long
def test_an_instance_stays_when_its_script_has_ended(desk: InstanceDesk) -> None:
    """User data is run once, at the first boot, and its end means nothing: UserGuide/user-data.html."""
    name = desk.start("#!/bin/sh\necho over\n")
    desk.says(name, "over")
    desk.in_state("running", name)
    (change,) = desk.ec2.terminate_instances(InstanceIds=[name])["TerminatingInstances"]
    assert (change["PreviousState"]["Name"], change["CurrentState"]["Name"]) == ("running", "shutting-down")
    ended = desk.in_state("terminated", name)
    assert ended["StateReason"]["Code"] == "Client.UserInitiatedShutdown"
    assert ended["StateTransitionReason"].startswith("User initiated (")


def test_termination_is_told_to_the_processes(desk: InstanceDesk) -> None:
    name = desk.start("#!/bin/bash\ntrap 'echo told; exit' TERM\necho ready\nwhile :; do sleep 0.05; done\n")
    desk.says(name, "ready")
    desk.ec2.terminate_instances(InstanceIds=[name])
    desk.in_state("terminated", name)
    assert "told" in desk.console(name)


@pytest.mark.long
def test_who_does_not_listen_is_killed_after_a_grace(desk: InstanceDesk, cloud: LocalCloud) -> None:
    name = desk.start("#!/bin/bash\ntrap '' TERM\necho ready\nwhile :; do sleep 0.05; done\n")
    desk.says(name, "ready")
    desk.ec2.terminate_instances(InstanceIds=[name])
    desk.in_state("shutting-down", name)
    cloud.advance(120)
    desk.in_state("terminated", name)


def test_a_watchdog_goes_by_the_clouds_clock(desk: InstanceDesk, cloud: LocalCloud) -> None:
    name = desk.start("#!/bin/sh\nsystemd-run --on-active=2h shutdown -h now\necho ready\nsleep 600\n")
    desk.says(name, "ready")
    cloud.advance(3600)
    assert desk.in_state("running", name)
    cloud.advance(3700)
    assert desk.in_state("terminated", name)["StateReason"]["Code"] == "Client.InstanceInitiatedShutdown"


@pytest.mark.long
def test_by_default_an_instance_that_shuts_down_is_stopped(desk: InstanceDesk) -> None:
    """UserGuide/Using_ChangingInstanceInitiatedShutdownBehavior.html: the default is stop."""
    request = desk.request("#!/bin/sh\npoweroff\n")
    del request["InstanceInitiatedShutdownBehavior"]
    name = desk.send(**request)["Instances"][0]["InstanceId"]
    desk.in_state("stopped", name)
    desk.ec2.terminate_instances(InstanceIds=[name])
    desk.in_state("terminated", name)


def test_a_terminated_instance_is_shown_for_an_hour(desk: InstanceDesk, cloud: LocalCloud) -> None:
    """UserGuide/terminating-instances.html: "remains visible ... for a short time" (an hour in the console's words)."""
    name = desk.start()
    desk.ec2.terminate_instances(InstanceIds=[name])
    desk.in_state("terminated", name)
    assert desk.ec2.terminate_instances(InstanceIds=[name])["TerminatingInstances"][0]["CurrentState"]["Code"] == 48
    cloud.advance(3590)
    assert desk.instance(name)
    cloud.advance(60)
    eventually(lambda: not desk.instance(name))
    assert refused(desk.ec2.describe_instances, InstanceIds=[name]) == "InvalidInstanceID.NotFound"


def test_a_new_instance_may_not_be_found_yet(desk: InstanceDesk) -> None:
    """devguide/eventual-consistency.html: "InvalidInstanceID.NotFound" right after a launch; the waiter goes on."""
    (launched,) = desk.launch()
    assert refused(desk.ec2.describe_instances, InstanceIds=[launched["InstanceId"]]) == "InvalidInstanceID.NotFound"
    waiter = desk.ec2.get_waiter("instance_running")
    waiter.wait(InstanceIds=[launched["InstanceId"]], WaiterConfig={"Delay": 1, "MaxAttempts": 60})


def test_volumes_and_interfaces_come_and_go_with_their_instance(desk: InstanceDesk) -> None:
    named = [{"Name": "tag:Name", "Values": [desk.name]}]
    disks = [
        {"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 75, "DeleteOnTermination": True}},
        {"DeviceName": "/dev/sdb", "Ebs": {"VolumeSize": 10}},
    ]
    name = desk.start(BlockDeviceMappings=disks)
    volumes = desk.ec2.describe_volumes(Filters=named)["Volumes"]
    assert {(each["Size"], each["Attachments"][0]["InstanceId"]) for each in volumes} == {(75, name), (10, name)}
    (interface,) = desk.ec2.describe_network_interfaces(Filters=named)["NetworkInterfaces"]
    shown = desk.in_state("running", name)
    assert interface["Attachment"]["InstanceId"] == name
    assert interface["PrivateIpAddress"] == shown["PrivateIpAddress"]
    assert shown["NetworkInterfaces"][0]["NetworkInterfaceId"] == interface["NetworkInterfaceId"]
    desk.end()
    desk.in_state("terminated", name)
    assert desk.ec2.describe_network_interfaces(Filters=named)["NetworkInterfaces"] == []
    (kept,) = desk.ec2.describe_volumes(Filters=named)["Volumes"]
    assert (kept["Size"], kept["State"]) == (10, "available")
    desk.ec2.delete_volume(VolumeId=kept["VolumeId"])


def test_several_instances_meet_by_their_private_addresses(desk: InstanceDesk) -> None:
    listen = 'python3 -m http.server 29500 --bind "$me" >/dev/null 2>&1 & '
    meet = 'until curl -sf "http://$first:29500" >/dev/null; do sleep 0.1; done; echo met "$index"'
    ask = METADATA + "me=$(look meta-data/local-ipv4); me=${me% *}; index=$(look meta-data/ami-launch-index)\n"
    script = (
        f'{ask}if [ "${{index% *}}" = 0 ]; then {listen} echo "$me" > {{}}; fi\n'
        f"until [ -s {{}} ]; do sleep 0.05; done; first=$(cat {{}})\n{meet}\nsleep 600\n"
    )
    place = f"/tmp/{desk.name}-first"
    launched = desk.launch(script.replace("{}", place), count=2)
    assert len({each["PrivateIpAddress"] for each in launched}) == 2
    for each in launched:
        desk.says(each["InstanceId"], f"met {each['AmiLaunchIndex']}")


def test_a_token_launches_once(desk: InstanceDesk, cloud: LocalCloud) -> None:
    """devguide/ec2-api-idempotency.html."""
    first = desk.send(**desk.request(), ClientToken=desk.name)
    again = desk.send(**desk.request(), ClientToken=desk.name)
    assert again["ReservationId"] == first["ReservationId"]
    changed = desk.request() | {"InstanceType": "c5.xlarge"}
    assert refused(desk.ec2.run_instances, **changed, ClientToken=desk.name) == "IdempotentParameterMismatch"
    name = first["Instances"][0]["InstanceId"]
    desk.in_state("running", name)
    desk.ec2.terminate_instances(InstanceIds=[name])
    desk.in_state("terminated", name)
    cloud.advance(7200)
    late = desk.send(**desk.request(), ClientToken=desk.name)
    assert [(each["InstanceId"], each["State"]["Name"]) for each in late["Instances"]] == [(name, "terminated")]


def test_a_token_is_another_one_in_another_zone(desk: InstanceDesk) -> None:
    subnets = desk.ec2.describe_subnets(Filters=[{"Name": "default-for-az", "Values": ["true"]}])["Subnets"][:2]
    launched = [
        desk.send(**desk.request(), ClientToken=desk.name, SubnetId=each["SubnetId"])["Instances"][0]
        for each in (*subnets, subnets[0])
    ]
    ids = [each["InstanceId"] for each in launched]
    assert ids[0] == ids[2] != ids[1]
    zones = [each["Placement"]["AvailabilityZone"] for each in launched[:2]]
    assert zones == [each["AvailabilityZone"] for each in subnets]


@pytest.mark.long
def test_a_lost_answer_is_asked_for_again_by_its_token(desk: InstanceDesk, cloud: LocalCloud) -> None:
    with cloud.fault("reset", "ec2:RunInstances", after=True, times=1), pytest.raises(ConnectionClosedError):
        desk.send(**desk.request(), ClientToken=desk.name)
    (launched,) = desk.send(**desk.request(), ClientToken=desk.name)["Instances"]
    desk.in_state("running", launched["InstanceId"])
    assert [each["InstanceId"] for each in desk.mine()] == [launched["InstanceId"]]


@pytest.mark.long
def test_pages_and_filters(desk: InstanceDesk) -> None:
    launched = {each["InstanceId"] for each in desk.launch("#!/bin/sh\n", count=6)}
    for name in launched:
        desk.in_state("running", name)
    pages = list(
        desk.ec2.get_paginator("describe_instances").paginate(
            Filters=[
                {"Name": "tag:Name", "Values": [f"{desk.name[:8]}*"]},
                {"Name": "instance-state-name", "Values": ["pending", "running"]},
            ],
            PaginationConfig={"PageSize": 5},
        )
    )
    found = [each["InstanceId"] for page in pages for one in page["Reservations"] for each in one["Instances"]]
    assert len(pages) == 2
    assert set(found) == launched
    odd = [{"Name": "colour", "Values": ["red"]}]
    assert refused(desk.ec2.describe_instances, Filters=odd) == "InvalidParameterValue"


@pytest.mark.long
def test_the_status_of_what_runs(desk: InstanceDesk) -> None:
    name = desk.start(STAYS)
    (status,) = desk.ec2.describe_instance_status(InstanceIds=[name])["InstanceStatuses"]
    assert (status["InstanceState"]["Name"], status["SystemStatus"]["Status"]) == ("running", "ok")
