"""`sweep infra` makes an empty account ready, tells what it does, and takes away no data."""

from __future__ import annotations

import json
import re
import shlex
import sys
import threading
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import SweepError
from orchestrator.images import launcher
from orchestrator.infra.infra import Infra
from orchestrator.settings.settings import read
from tests.images.parts import FILES, a_base, write_tar

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud
    from tests.cli.calls import Sweep

ACCOUNT = "123456789012"
Client = "Callable[..., Any]"


@pytest.fixture
def here(sweep: Sweep, empty_cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> Sweep:
    """A person in an empty folder, with credentials for an empty account, and with few packages for launchers."""
    for name, value in empty_cloud.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(launcher, "installed_files", lambda: FILES)
    return sweep


@pytest.fixture
def control(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Says which Region is the control Region: each test has its own."""
    return lambda region: monkeypatch.setenv("AWS_REGION", region)


NETWORK = '[infra]\nsubnets = ["subnet-0123456789abcdef0"]\nsecurity_groups = ["sg-0123456789abcdef0"]\n'


@pytest.fixture
def network(here: Sweep) -> None:  # noqa: ARG001 - the folder is its
    """A network of the team's own, so that none is made."""
    Path("sweep.toml").write_text(NETWORK)


def documented_commands() -> list[list[str]]:
    """What docs/real-account.md says to call, but for the first word."""
    page = (Path(__file__).parents[4] / "docs" / "real-account.md").read_text(encoding="utf-8")
    block = page.partition("\n## Three commands\n")[2].partition("```console\n")[2].partition("```")[0]
    return [shlex.split(line.removeprefix("$ sweep ")) for line in block.splitlines()]


def settings_file() -> dict[str, Any]:
    return tomllib.loads(Path("sweep.toml").read_text())


def stacks(client: Any) -> dict[str, str]:
    return {stack["StackName"]: stack["StackStatus"] for stack in client.describe_stacks()["Stacks"]}


def test_an_empty_account_is_ready_for_a_sweep_after_deploy_and_refresh(
    here: Sweep, control: Callable[[str], None], empty_client: Callable[..., Any]
) -> None:
    control("us-east-1")
    here("init")
    deploy, refresh, submit = documented_commands()
    deployed = here(*deploy, "--yes", "--json")
    assert deployed.code == 0, deployed.err
    answer = json.loads(deployed.out)
    assert {change["change"] for change in answer["changes"]} == {"add"}
    assert answer["regions"] == ["eu-west-1"]
    image = settings_file()["launcher_image"]
    assert image.startswith(f"{ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/sweep-launcher@sha256:")
    data = settings_file()["region_bucket"].replace("{region}", "eu-west-1")
    empty_client("s3", "eu-west-1").put_object(Bucket=data, Key="campaigns/berlin/v1/drive.csv", Body=b"1,2,3\n")

    sweep_file = Path("sweep.yaml").read_text()
    Path("sweep.yaml").write_text(
        re.sub(r"(?s)space:.*?objective", "space:\n  batch-size: [32]\n\nobjective", sweep_file)
    )
    assert here("catalog", "discover", f"s3://{data}/campaigns/").code == 0
    assert here(*refresh).code == 0
    ran = here(*submit, "--yes")
    assert ran.code == 0, ran.err
    assert "1/1 done" in ran.err

    (job,) = jobs(empty_client("batch"), "sweep-tasks")
    (shown,) = empty_client("batch").describe_jobs(jobs=[job["jobId"]])["jobs"]
    assert shown["container"]["image"] == image
    logged = empty_client("logs").describe_log_streams(logGroupName="/sweep/launchers")["logStreams"]
    assert len(logged) == 1
    assert here("infra", "status").code == 0
    well = here("doctor", "sweep.yaml", "--bundle", "support.zip")
    assert (well.code, [line for line in well.out.splitlines() if line.startswith("✗")]) == (0, [])
    assert "✓ plan sweep.yaml: every task finds its place" in well.out
    assert f"✓ data {data}: sweep-training-us-east-1 may read what the plan needs of it" in well.out
    _data_elsewhere_is_told(here, empty_client("s3", "eu-west-1"))
    assert zipfile.is_zipfile("support.zip")


def _data_elsewhere_is_told(here: Sweep, s3: Any) -> None:
    """See that a bucket of the team's that the settings do not let trainings read is told where it is discovered."""
    s3.create_bucket(Bucket="team-eu-west-1", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    s3.put_object(Bucket="team-eu-west-1", Key="campaigns/oslo/v1/drive.csv", Body=b"1,2,3\n")
    setting = 'data_buckets = ["team-{region}"]'
    assert f"write `{setting}` below [infra]" in here("catalog", "discover", "s3://team-eu-west-1/campaigns/").err


def test_the_doctor_says_what_an_empty_account_lacks_and_what_mends_it(
    here: Sweep, control: Callable[[str], None]
) -> None:
    control("eu-north-1")
    ill = here("doctor", "--json")
    assert ill.code == 1
    found = {row["about"]: row for row in json.loads(ill.out) if row["state"] == "wrong"}
    assert found.keys() == {"setting", "bucket", "role", "queue", "image"}
    assert {row["mend"] for row in found.values()} == {"sweep infra deploy"}
    facts = next(row for row in json.loads(ill.out) if row["about"] == "facts")
    assert (facts["state"], facts["mend"]) == ("warning", "sweep catalog refresh")
    named = here("doctor", "nowhere.yaml")
    assert named.code == 2


def jobs(batch: Any, queue: str) -> list[dict[str, Any]]:
    """The jobs of a queue, whatever has become of them by now."""
    states = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")
    pages = [batch.list_jobs(jobQueue=queue, jobStatus=state)["jobSummaryList"] for state in states]
    return [job for page in pages for job in page]


def test_deploying_again_changes_nothing_and_more_regions_add_to_it(
    here: Sweep,
    control: Callable[[str], None],
    empty_client: Callable[..., Any],
    network: None,  # noqa: ARG001
) -> None:
    control("us-west-2")
    assert here("infra", "deploy", "--yes").code == 0
    before = Path("sweep.toml").read_text()
    again = here("infra", "deploy", "--yes")
    assert (again.code, "nothing to change" in again.err) == (0, True)
    assert Path("sweep.toml").read_text() == before
    more = here("infra", "deploy", "--region", "us-east-2", "--yes", "--json")
    changed = {(row["region"], row["change"], row["type"]) for row in json.loads(more.out)["changes"]}
    assert changed == {
        ("us-west-2", "add", "AWS::Batch::JobQueue"),
        ("us-east-2", "add", "AWS::S3::Bucket"),
        ("us-east-2", "add", "AWS::ECR::Repository"),
    }
    assert settings_file()["infra"]["regions"] == ["us-west-2", "us-east-2"]
    assert stacks(empty_client("cloudformation", "us-east-2")) == {"sweep-region": "CREATE_COMPLETE"}
    batch = empty_client("batch", "us-west-2")
    job = batch.submit_job(**a_job(batch) | {"jobQueue": "sweep-tasks-us-west-2"})["jobId"]
    gone = here("infra", "destroy", "--region", "us-west-2", "--yes")
    assert (gone.code, "wrote infra.regions" in gone.err) == (0, True)
    assert settings_file()["infra"]["regions"] == ["us-east-2"]
    refused = here("infra", "deploy", "--yes")
    assert (refused.code, "in the queue sweep-tasks-us-west-2, and would end with it" in refused.err) == (6, True)
    batch.terminate_job(jobId=job, reason="enough")
    wait_until_ended(batch, job)
    fewer = here("infra", "deploy", "--yes", "--json")
    assert [(row["change"], row["type"]) for row in json.loads(fewer.out)["changes"]] == [
        ("remove", "AWS::Batch::JobQueue")
    ]
    assert here("infra", "destroy", "--yes").code == 0
    for region in ("us-west-2", "us-east-2"):
        assert "sweep-region" not in stacks(empty_client("cloudformation", region))


def test_drift_is_told_and_data_outlives_its_stack(
    here: Sweep,
    control: Callable[[str], None],
    empty_client: Callable[..., Any],
    network: None,  # noqa: ARG001
) -> None:
    control("eu-central-1")
    assert here("infra", "deploy", "--yes").code == 0
    settings, s3 = settings_file(), empty_client("s3", "eu-central-1")
    s3.put_object(Bucket=settings["bucket"], Key="workloads/champion", Body=b"the best")
    s3.put_bucket_versioning(Bucket=settings["bucket"], VersioningConfiguration={"Status": "Suspended"})
    empty_client("iam").delete_role_policy(RoleName=settings["job_role"].rpartition("/")[2], PolicyName="sweep")
    status = here("infra", "status")
    assert status.code == 5
    assert f"{settings['bucket']} (AWS::S3::Bucket) was changed: /VersioningConfiguration/Status" in status.err
    assert "sweep-launcher-eu-central-1 (AWS::IAM::Role) was changed" in status.err
    assert "with --revert-drift it puts back what somebody has changed by hand" in status.err
    unmended = here("infra", "deploy", "--yes")
    assert (unmended.code, "`sweep infra deploy --revert-drift` puts it back" in unmended.err) == (5, True)
    assert "sweep-launcher-eu-central-1 (AWS::IAM::Role) was changed" in unmended.err
    assert here("infra", "status").code == 5
    reverted = here("infra", "deploy", "--revert-drift", "--yes", "--json")
    assert {(row["change"], row["name"]) for row in json.loads(reverted.out)["changes"]} == {
        ("modify", settings["bucket"]),
        ("modify", "sweep-launcher-eu-central-1"),
    }
    assert here("infra", "status").code == 0

    waiting = empty_client("batch", "eu-central-1").submit_job(**a_job(empty_client("batch", "eu-central-1")))["jobId"]
    refused = here("infra", "destroy", "--yes")
    assert (refused.code, "and would end with it" in refused.err) == (6, True)
    empty_client("batch", "eu-central-1").terminate_job(jobId=waiting, reason="enough")
    wait_until_ended(empty_client("batch", "eu-central-1"), waiting)

    gone = here("infra", "destroy", "--yes", "--json")
    stays = {row["name"] for row in json.loads(gone.out) if row["stays"]}
    assert settings["bucket"] in stays
    assert stacks(empty_client("cloudformation", "eu-central-1")) == {}
    assert s3.get_object(Bucket=settings["bucket"], Key="workloads/champion")["Body"].read() == b"the best"
    again = here("infra", "deploy", "--yes", "--json")
    assert again.code == 0, again.err
    imported = {row["type"] for row in json.loads(again.out)["changes"] if row["change"] == "import"}
    assert imported == {"AWS::S3::Bucket", "AWS::ECR::Repository", "AWS::Logs::LogGroup"}


def a_job(batch: Any) -> dict[str, Any]:
    """A job that would run for an hour."""
    container = {
        "image": "busybox",
        "command": ["sleep", "3600"],
        "resourceRequirements": [{"type": "VCPU", "value": "0.25"}, {"type": "MEMORY", "value": "512"}],
    }
    batch.register_job_definition(jobDefinitionName="sleeper", type="container", containerProperties=container)
    return {"jobName": "sleeper", "jobQueue": "sweep-tasks", "jobDefinition": "sleeper"}


def wait_until_ended(batch: Any, job: str) -> None:
    until = time.monotonic() + 60
    while batch.describe_jobs(jobs=[job])["jobs"][0]["status"] != "FAILED":
        assert time.monotonic() < until
        time.sleep(0.05)


def test_what_a_person_does_not_agree_to_is_taken_back(
    here: Sweep, control: Callable[[str], None], empty_client: Callable[..., Any]
) -> None:
    control("eu-north-1")
    asked = here("infra", "deploy")
    assert asked.code == 2
    assert "--yes goes ahead" in asked.err
    assert stacks(empty_client("cloudformation", "eu-north-1")) == {}
    assert not Path("sweep.toml").exists()


def test_a_deployment_that_fails_says_which_resource_and_why_and_is_mended_by_the_next(
    here: Sweep,
    control: Callable[[str], None],
    empty_client: Callable[..., Any],
    network: None,  # noqa: ARG001
) -> None:
    control("eu-north-1")
    batch = empty_client("batch", "eu-north-1")
    batch.create_compute_environment(
        computeEnvironmentName="sweep-tasks",
        type="MANAGED",
        computeResources={"type": "FARGATE", "maxvCpus": 1, "subnets": ["subnet-1"], "securityGroupIds": ["sg-1"]},
    )
    failed = here("infra", "deploy", "--yes")
    assert failed.code == 1
    assert "LauncherEnvironment (AWS::Batch::ComputeEnvironment): Object already exists: sweep-tasks" in failed.err
    buckets = [each["Name"] for each in empty_client("s3").list_buckets()["Buckets"]]
    assert f"sweep-control-{ACCOUNT}-eu-north-1" not in buckets
    batch.update_compute_environment(computeEnvironment="sweep-tasks", state="DISABLED")
    batch.delete_compute_environment(computeEnvironment="sweep-tasks")
    mended = here("infra", "deploy", "--yes")
    assert mended.code == 0, mended.err
    assert "was never made whole" in mended.err


def test_what_a_deployment_may_not_do_is_told_with_the_statement_that_is_missing(
    here: Sweep,
    control: Callable[[str], None],
    network: None,  # noqa: ARG001
    empty_cloud: LocalCloud,
) -> None:
    control("us-west-2")
    with empty_cloud.fault("deny", "sns:CreateTopic"):
        failed = here("infra", "deploy", "--yes")
    assert failed.code == 4
    assert "Topic (AWS::SNS::Topic): User: " in failed.err
    assert 'let whoever deploys do it: {"Effect": "Allow", "Action": "sns:CreateTopic", "Resource": "*"}' in failed.err
    with empty_cloud.fault("deny", "cloudformation:CreateChangeSet"):
        failed = here("infra", "deploy", "--yes")
    assert (failed.code, "perform: cloudformation:CreateChangeSet" in failed.err) == (4, True)


def test_two_deployments_at_once_make_one_account(
    here: Sweep,
    control: Callable[[str], None],
    empty_client: Callable[..., Any],
    network: None,  # noqa: ARG001
) -> None:
    control("ap-northeast-1")
    settings = read()
    ends: list[object] = []

    def deploy() -> None:
        infra = Infra(settings)
        try:
            ends.extend(stack.status for stack in infra.carry_out(infra.plan_changes(["ap-northeast-1"])))
        except SweepError as error:
            ends.append(error)

    both = [threading.Thread(target=deploy) for _ in range(2)]
    for each in both:
        each.start()
        time.sleep(0.05)
    for each in both:
        each.join(timeout=120)
    assert set(ends) == {"CREATE_COMPLETE"}
    assert set(stacks(empty_client("cloudformation", "ap-northeast-1")).values()) == {"CREATE_COMPLETE"}
    assert here("infra", "deploy", "--yes").code == 0


def test_a_bucket_of_the_team_s_own_in_another_region_is_refused_before_anything_is_made(
    here: Sweep, control: Callable[[str], None], empty_client: Callable[..., Any]
) -> None:
    control("us-east-2")
    where = {"LocationConstraint": "eu-west-1"}
    empty_client("s3", "eu-west-1").create_bucket(Bucket="ours-far-away", CreateBucketConfiguration=where)
    Path("sweep.toml").write_text('bucket = "ours-far-away"\n')
    refused = here("infra", "deploy", "--yes")
    assert refused.code == 2
    assert "the bucket ours-far-away lies in eu-west-1 (mend `bucket` in the settings" in refused.err
    assert "sweep-control" not in stacks(empty_client("cloudformation", "us-east-2"))


def test_another_version_of_the_package_is_another_image_and_an_image_of_their_own_is_left_alone(
    here: Sweep,
    control: Callable[[str], None],
    network: None,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    control("ap-northeast-1")
    assert here("infra", "deploy", "--yes").code == 0
    before = settings_file()
    monkeypatch.setattr(launcher, "installed_files", lambda: {**FILES, "newer.py": b"1"})
    made = here("images", "launcher", "--json")
    assert made.code == 0, made.err
    answer = json.loads(made.out)
    assert answer["is_new"]
    assert settings_file() == {**before, "launcher_image": answer["uri"]}
    assert here("infra", "status").code == 0
    again = here("infra", "deploy", "--yes")
    assert (again.code, f"{answer['uri']}: there already" in again.err) == (0, True)
    text = Path("sweep.toml").read_text().replace(answer["uri"], "registry.example/ours:7")
    Path("sweep.toml").write_text(text)
    refused = here("images", "launcher")
    assert (refused.code, "the launcher's image is one of your own" in refused.err) == (2, True)


def test_without_a_base_the_stacks_are_there_and_the_image_is_said_to_be_missing(
    here: Sweep,
    control: Callable[[str], None],
    network: None,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    control("eu-west-1")
    monkeypatch.setenv("SWEEP_LAUNCHER_BASE", "nowhere")
    failed = here("infra", "deploy", "--yes")
    assert failed.code == 5
    assert "the launcher's image was not made: not an image with its registry: 'nowhere'" in failed.err
    assert "launcher_image" not in settings_file()
    monkeypatch.delenv("SWEEP_LAUNCHER_BASE")
    base = write_tar(Path("base.tar"), a_base())
    mended = here("images", "launcher", "--base", base)
    assert mended.code == 0, mended.err
    assert "each launcher compiles its packages" in mended.err
    assert "@sha256:" in settings_file()["launcher_image"]


def test_roles_of_another_account_are_refused(here: Sweep) -> None:
    Path("sweep.toml").write_text('role = "arn:aws:iam::999999999999:role/theirs"\n')
    refused = here("infra", "deploy", "--yes")
    assert refused.code == 2
    assert "roles of the account 999999999999" in refused.err


@pytest.mark.parametrize(
    ("settings", "arguments", "message"),
    [
        ('role = "training"\n', [], "role is no role's ARN: 'training' (arn:aws:iam::<account>:role/<name>)"),
        (
            'bucket = "no-such-bucket-of-ours"\n',
            [],
            "mend `bucket` in the settings, or take it out to have a bucket made",
        ),
        ("", ["--region", "eu-wst-1"], "there is no Region 'eu-wst-1' (did you mean 'eu-west-1'?"),
        ('region = "eu-west-1"\n', ["--region", "us-east-1"], ""),
        ("[infra]\nregions = 7\n", [], "sweep.toml: infra.regions: "),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_before_anything_is_made(
    here: Sweep, settings: str, arguments: list[str], message: str
) -> None:
    Path("sweep.toml").write_text(settings)
    before = ["--region", "us-east-2"] if not message else []
    refused = here(*before, "infra", "deploy", "--yes", *arguments)
    assert (refused.code, refused.out) == (2, "")
    assert (message or "its control Region is eu-west-1, and this is for us-east-2") in refused.err
    assert len(refused.err.splitlines()) == 1


def test_a_deployment_that_was_killed_is_found_again_by_the_next(
    here: Sweep,
    control: Callable[[str], None],
    network: None,  # noqa: ARG001
    empty_client: Callable[..., Any],
) -> None:
    """Once before anything was asked to be done, and once while CloudFormation was at it."""
    control("us-east-2")
    killed = Infra(read()).plan_changes(["us-east-2"])
    assert stacks(empty_client("cloudformation", "us-east-2"))["sweep-control"] == "REVIEW_IN_PROGRESS"
    assert killed
    killed = Infra(read()).plan_changes(["us-east-2"])
    killed[0].wanted.stacks.execute(killed[0].proposal)
    finished = here("infra", "deploy", "--region", "us-east-2", "--yes")
    assert finished.code == 0, finished.err
    assert set(stacks(empty_client("cloudformation", "us-east-2")).values()) == {"CREATE_COMPLETE"}
