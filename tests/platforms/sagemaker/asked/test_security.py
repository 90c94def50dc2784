"""Role, network, keys and isolation: a team's settings, over them the sweep's own, and what does not fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.session import Clients
from orchestrator.errors import SettingsError, SpecError
from orchestrator.platforms.sagemaker.instance_types import has_local_disks
from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from orchestrator.platforms.sagemaker.request import HASH_TAG, make_request
from orchestrator.spec.reading.reader import read
from tests.platforms.sweeps import ON_DEMAND, SPOT, TASK, staging, sweep, template

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.spec.sweep import Sweep

VPC = {"subnets": ["subnet-0a0a0a0a"], "security_groups": ["sg-0a0a0a0a"]}
TEAM = {
    "role": "arn:aws:iam::123456789012:role/team",
    "vpc": {"eu-west-1": VPC},
    "volume_kms_key": "alias/volumes",
    "output_kms_key": "alias/outputs",
    "network_isolation": True,
    "encrypt_between_instances": True,
}
LANE = replace(ON_DEMAND.lane, instance_type="ml.c5.xlarge")


def asking(**table: Any) -> Sweep:
    return sweep(where={"instance_types": ["ml.c5.xlarge"]}, platforms={"sagemaker": table})


def sent(usual: dict[str, Any], **table: Any) -> dict[str, Any]:
    shared = template(asking(**table), usual=usual)
    return make_request(shared, TASK, replace(ON_DEMAND, lane=LANE), 1, 3000).body


def test_what_a_team_s_settings_say_holds_for_every_sweep() -> None:
    made = sent(TEAM)
    assert made["RoleArn"] == TEAM["role"]
    assert made["VpcConfig"] == {"Subnets": ["subnet-0a0a0a0a"], "SecurityGroupIds": ["sg-0a0a0a0a"]}
    assert made["ResourceConfig"]["VolumeKmsKeyId"] == "alias/volumes"
    assert made["OutputDataConfig"] == {
        "S3OutputPath": "s3://team-eu-west-1/runs/nightly/trainings",
        "KmsKeyId": "alias/outputs",
    }
    assert made["EnableNetworkIsolation"] is made["EnableInterContainerTrafficEncryption"] is True


def test_a_sweep_says_it_anew_or_does_without() -> None:
    own = "arn:aws:iam::123456789012:role/own"
    made = sent(TEAM, role=own, output_kms_key="alias/mine")
    assert (made["RoleArn"], made["OutputDataConfig"]["KmsKeyId"]) == (own, "alias/mine")
    without = sent(
        TEAM,
        vpc="none",
        volume_kms_key="none",
        output_kms_key="none",
        network_isolation=False,
        encrypt_between_instances=False,
    )
    plain = sent({"role": TEAM["role"]})
    tags = [{tag["Key"]: tag["Value"] for tag in body.pop("Tags")} for body in (without, plain)]
    assert without == plain
    assert tags[0][HASH_TAG] == tags[1][HASH_TAG]


def test_under_isolation_the_code_comes_in_a_channel() -> None:
    made = sent({}, network_isolation=True)
    assert made["HyperParameters"]["sagemaker_submit_directory"] == '"/opt/ml/input/data/code/sourcedir.tar.gz"'
    channel = made["InputDataConfig"][-1]
    assert channel["ChannelName"] == "code"
    assert channel["DataSource"]["S3DataSource"]["S3Uri"] == staging().source


def test_a_region_has_its_own_key() -> None:
    keys = {"eu-west-1": "alias/here", "us-east-1": "alias/there"}
    assert sent({}, output_kms_key=keys)["OutputDataConfig"]["KmsKeyId"] == "alias/here"
    arn = "arn:aws:kms:{region}:123456789012:key/mrk-1"
    assert sent({}, volume_kms_key=arn)["ResourceConfig"]["VolumeKmsKeyId"] == arn.format(region="eu-west-1")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"vpc": {"us-east-1": VPC}}, "platforms.sagemaker.vpc has no subnets in eu-west-1"),
        ({"volume_kms_key": {"us-east-1": "alias/v"}}, "platforms.sagemaker.volume_kms_key has no key in eu-west-1"),
        ({"output_kms_key": {"us-east-1": "alias/v"}}, "platforms.sagemaker.output_kms_key has no key in eu-west-1"),
        (
            {"output_kms_key": "arn:aws:kms:us-east-1:123456789012:key/1"},
            "the key of platforms.sagemaker.output_kms_key is not one of eu-west-1: arn:aws:kms:us-east-1:",
        ),
        (
            {
                "vpc": {"eu-west-1": VPC},
                "file_systems": {"fsx": {"us-east-1": {"id": "fs-0123456789abcdef0", "type": "EFS", "path": "/"}}},
            },
            "platforms.sagemaker.file_systems.fsx is not in eu-west-1",
        ),
    ],
)
def test_a_region_without_what_is_asked_for_is_left_out(table: dict[str, Any], said: str) -> None:
    assert SageMakerPlanning({}).excludes(asking(**table), LANE).startswith(said)


def test_nothing_is_left_out_where_all_is_given() -> None:
    assert SageMakerPlanning(TEAM).excludes(asking(), replace(LANE, region="us-east-1")) != ""
    assert SageMakerPlanning(TEAM).excludes(asking(), LANE) == ""
    assert SageMakerPlanning(TEAM).excludes(asking(vpc="none"), replace(LANE, region="us-east-1")) == ""


def test_types_with_local_disks_are_known_by_their_families() -> None:
    with_disks = ("g4dn.xlarge", "g5.48xlarge", "g6e.xlarge", "p3dn.24xlarge", "p4d.24xlarge", "p4de.24xlarge")
    with_disks += (
        "p5.48xlarge",
        "p5en.48xlarge",
        "p6-b200.48xlarge",
        "p6e-gb200.36xlarge",
        "trn1.2xlarge",
        "r5d.large",
    )
    without = ("m5.large", "c5n.xlarge", "p3.2xlarge", "p2.xlarge", "m7i-flex.large", "t3.medium", "c6i.large", "new.x")
    assert [name for name in with_disks if not has_local_disks(f"ml.{name}")] == []
    assert [name for name in without if has_local_disks(f"ml.{name}")] == []


def test_a_volume_s_key_is_refused_at_the_line_of_a_type_with_local_disks() -> None:
    mixed = sweep(where={"instance_types": ["ml.c5.xlarge", "ml.g5.xlarge"]})
    (complaint,) = SageMakerPlanning({"volume_kms_key": "alias/v"}).check(mixed)
    assert complaint.message.startswith("ml.g5.xlarge takes no volume_kms_key: its local disks are always encrypted")
    assert complaint.at == ("where", "instance_types", 1)
    without = mixed.model_copy(update={"platforms": {"sagemaker": {"volume_kms_key": "none"}}})
    assert list(SageMakerPlanning({"volume_kms_key": "alias/v"}).check(without)) == []


FILE = """\
name: grid
train: {entry_point: train.py, source: code, image: me/train:1}
where: {instance_types: [ml.c5.xlarge]}
runtime: 0.5
platforms:
  sagemaker:
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("role: training", "7:11: not a role's ARN: 'training' (arn:aws:iam::<account>:role/<name>)"),
        ("vpc: {europe: {subnets: [subnet-0a0a0a0a], security_groups: [sg-0a0a0a0a]}}", "7:19: 'europe' is no Region"),
        (
            "vpc: {eu-west-1: {subnets: [subnet-0a0a0a0a]}}",
            "7:22: platforms.sagemaker.vpc.eu-west-1.security_groups is missing",
        ),
        (
            "vpc: {eu-west-1: {subnets: [sg-0a0a0a0a], security_groups: [sg-0a0a0a0a]}}",
            "7:33: 'sg-0a0a0a0a' is no id of one (such as subnet-",
        ),
        (
            "vpc: {eu-west-1: {subnets: [subnet-x], security_groups: [sg-0a0a0a0a]}}",
            "7:33: 'subnet-x' is no id of one (such as subnet-",
        ),
        ("vpc: some", "7:10: platforms.sagemaker.vpc: expected a mapping, got 'some'"),
        ("volume_kms_key: {eu-west-1: a key}", "7:33: not a KMS key: 'a key' (its ARN, its id, or alias/<name>)"),
        ("network_isolation: yes please", "7:24: platforms.sagemaker.network_isolation: "),
        ("file_systems: {scratch: {}}", "7:29: platforms.sagemaker.file_systems.scratch: there is nothing in it"),
        (
            "file_systems: {scratch: {eu-west-1: {id: fs-1, type: EFS, path: /}}}",
            "7:46: platforms.sagemaker.file_systems.scratch.eu-west-1.id cannot be 'fs-1' (such as fs-0123456",
        ),
        (
            "file_systems: {scratch: {eu-west-1: {id: fs-01234567, type: EFS, path: /}}}",
            "7:19: a file system is reached through its own network, and there is none",
        ),
        (
            "file_systems: {training: {eu-west-1: {id: fs-01234567, type: EFS, path: /}}}",
            "7:19: a file system is reached",
        ),
    ],
)
def test_what_cannot_be_is_told_with_its_place(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").touch()
    file = tmp_path / "sweep.yaml"
    file.write_text(f"{FILE}    {line}\n")
    with pytest.raises(SpecError) as caught:
        read(file, SageMakerPlanning({}).check)
    assert str(caught.value).startswith(f"{file}:{said}")


def test_names_of_channels_are_taken_once() -> None:
    system = {"eu-west-1": {"id": "fs-01234567", "type": "EFS", "path": "/"}}
    asked = asking(vpc={"eu-west-1": VPC}, file_systems={"Training": system}, network_isolation=True)
    named_code = asked.model_copy(update={"train": asked.train.model_copy(update={"data_channel": "code"})})
    planning = SageMakerPlanning({})
    assert [one.message for one in planning.check(asked)] == ["the channels Training and training have one variable"]
    same = asking(vpc={"eu-west-1": VPC}, file_systems={"training": system})
    assert [one.message for one in planning.check(same)] == ["there is a channel training in train already"]
    assert "under network isolation the channel code brings the script" in [
        one.message for one in planning.check(named_code)
    ]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"rol": "x"}, r"platforms.sagemaker: unknown key 'rol' \(did you mean 'role'\?\)"),
        ({"role": 12}, r"platforms.sagemaker: role: expected text, got 12 \(put it in quotes\)"),
        ({"channels": {}}, "platforms.sagemaker: unknown key 'channels'"),
        ({"vpc": {"eu-west-1": VPC | {"subnets": []}}}, "vpc.eu-west-1.subnets: there is nothing in it"),
    ],
)
def test_a_wrong_setting_is_one_clear_line(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        SageMakerPlanning(settings)


def test_the_sweep_s_role_goes_before_the_platform_s_and_that_before_everybody_s() -> None:
    own = "arn:aws:iam::123456789012:role/own"
    for usual, table, role in (({}, {}, staging().role), (TEAM, {}, TEAM["role"]), (TEAM, {"role": own}, own)):
        made = SageMakerPlanning(usual).stage(staging(asking(**table)), Clients())
        assert made.body["request"]["RoleArn"] == role


def test_tags_of_one_s_own_are_on_every_training() -> None:
    body = make_request(template(sweep(tags={"cost-centre": "4711"})), TASK, SPOT, 1, 3000).body
    tags = {tag["Key"]: tag["Value"] for tag in body["Tags"]}
    assert tags["cost-centre"] == "4711"
    assert (tags["sweep:run"], len(tags)) == ("nightly", 6)


def test_a_network_in_none_of_the_named_regions_is_an_error_of_the_file() -> None:
    there = {"subnets": ["subnet-0a0a0a0a"], "security_groups": ["sg-0a0a0a0a"]}
    asked = sweep(where={"regions": ["us-east-1", "eu-west-1"]}, platforms={"sagemaker": {"vpc": {"eu-west-2": there}}})
    [complaint] = [one for one in SageMakerPlanning({}).check(asked) if "vpc" in one.message]
    assert complaint.at == ("where", "regions")
    assert complaint.message == (
        "platforms.sagemaker.vpc has no subnets in us-east-1; platforms.sagemaker.vpc has no subnets in eu-west-1"
    )
    assert complaint.hint == "add it, or name another Region"
    key = sweep(where={"regions": ["eu-west-1"]}, platforms={"sagemaker": {"volume_kms_key": {"eu-west-2": "alias/x"}}})
    messages = [one.message for one in SageMakerPlanning({}).check(key) if one.at == ("where", "regions")]
    assert messages == ["platforms.sagemaker.volume_kms_key has no key in eu-west-1"]
    some = sweep(where={"regions": ["us-east-1", "eu-west-2"]}, platforms={"sagemaker": {"vpc": {"eu-west-2": there}}})
    assert not [one for one in SageMakerPlanning({}).check(some) if "vpc" in one.message]
