"""In the SageMaker Model Registry the newest approved version is the champion; one that is away holds nothing up."""

from __future__ import annotations

import json
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from orchestrator.account import account
from orchestrator.aws.model_packages import ModelPackageGroup, NewVersion
from orchestrator.errors import InvalidRequest, SettingsError
from orchestrator.infra.names import names
from orchestrator.infra.policies import policy
from orchestrator.localcloud.http.call import Call
from orchestrator.localcloud.iam.needs.find import needs
from orchestrator.localcloud.iam.needs.scene import Scene
from orchestrator.localcloud.services.moto import backends as moto_backends
from orchestrator.models.models import Models
from orchestrator.models.readers import tell_readers
from orchestrator.settings.settings import Settings
from tests.models.bench import finished

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from tests.runs.bench import Desk

assert moto_backends.ACCOUNT  # moto's registry is put right as it is imported
HOME, AWAY = "us-east-1", "eu-west-1"
MONDAY = "s3://data-us-east-1/runs/monday/0/model.tar.gz"
TUESDAY = "s3://data-us-east-1/runs/tuesday/0/model.tar.gz"


@pytest.fixture
def models(desk: Desk, clients: Clients) -> Models:
    cloud = desk.cloud(model_registry=HOME)
    cloud.clients = clients
    return Models(cloud, "ada", lambda _dataset, _region: "3f1a0c")


class Reader:
    """Somebody who knows SageMaker and nothing of us."""

    def __init__(self, clients: Clients, region: str = HOME) -> None:
        self.sagemaker: Any = clients.client("sagemaker", region)

    def champion(self) -> str:
        """Return where the newest approved model lies, as SageMaker's own examples look for it."""
        newest_first = {"SortBy": "CreationTime", "SortOrder": "Descending"}
        found = self.sagemaker.list_model_packages(
            ModelPackageGroupName="steering", ModelApprovalStatus="Approved", **newest_first
        )["ModelPackageSummaryList"]
        (container,) = self.describe(found[0]["ModelPackageVersion"])["InferenceSpecification"]["Containers"]
        return str(container["ModelDataUrl"])

    def approvals(self) -> list[str]:
        found = self.sagemaker.list_model_packages(ModelPackageGroupName="steering")["ModelPackageSummaryList"]
        return [each["ModelApprovalStatus"] for each in sorted(found, key=lambda each: each["ModelPackageVersion"])]

    def describe(self, version: int) -> dict[str, Any]:
        arn = f"arn:aws:sagemaker:{self.sagemaker.meta.region_name}:123456789012:model-package/steering/{version}"
        return dict(self.sagemaker.describe_model_package(ModelPackageName=arn))


@pytest.fixture
def reader(clients: Clients) -> Reader:
    return Reader(clients)


def test_the_newest_approved_version_is_the_champion_whatever_happens(
    desk: Desk, models: Models, reader: Reader
) -> None:
    assert models.challenge(finished(desk, "monday", [0.5])).promoted
    assert (reader.champion(), reader.approvals()) == (MONDAY, ["Approved"])
    assert models.challenge(finished(desk, "tuesday", [0.4])).promoted
    assert (reader.champion(), reader.approvals()) == (TUESDAY, ["Rejected", "Approved"])
    models.rollback("steering")
    assert (reader.champion(), reader.approvals()) == (MONDAY, ["Approved", "Rejected"])  # no third version
    models.rollback("steering", to=2)
    assert (reader.champion(), reader.approvals()) == (TUESDAY, ["Rejected", "Approved"])


def test_a_version_tells_what_its_model_was_made_of(desk: Desk, models: Models, reader: Reader) -> None:
    models.challenge(finished(desk, "monday", [0.5]))
    models.challenge(finished(desk, "tuesday", [0.4]))
    champion = models.champion("steering").model
    assert reader.describe(2)["CustomerMetadataProperties"] == {
        "sweep.workload": "steering",
        "sweep.run": "tuesday",
        "sweep.task": "0",
        "sweep.promotion": "2",
        "sweep.dataset": champion.dataset,
        "sweep.data_mark": "3f1a0c",
        "sweep.code": champion.code,
        "sweep.metric": "loss",
        "sweep.score": "0.4",
    }
    first = reader.describe(1)
    assert first["CustomerMetadataProperties"]["sweep.promotion"] == "1"  # what is rejected keeps it
    assert first["ApprovalDescription"] == "promotion 2 is the champion"
    assert first["ModelPackageDescription"].startswith("sweep promotion 1: it is the first")


def test_a_version_has_the_image_of_its_training(desk: Desk, models: Models, reader: Reader) -> None:
    models.challenge(finished(desk, "monday", [0.5]))
    image = "123456789012.dkr.ecr.us-east-1.amazonaws.com/ours@sha256:" + "0" * 64
    found = models.champion("steering")
    by_its_digest = replace(found, origin=7, model=replace(found.model, image=image))
    tell_readers("steering", models.cloud, lambda _: by_its_digest)
    assert reader.describe(2)["InferenceSpecification"]["Containers"] == [{"Image": image, "ModelDataUrl": MONDAY}]


def test_saying_it_again_changes_nothing(desk: Desk, models: Models, reader: Reader) -> None:
    run = finished(desk, "monday", [0.5])
    models.challenge(run)
    before = reader.describe(1)
    for _ in range(3):
        models.challenge(run)
    assert (reader.approvals(), reader.describe(1)["CreationTime"]) == (["Approved"], before["CreationTime"])
    assert "LastModifiedTime" not in reader.describe(1)


def test_versions_of_others_are_left_as_they_are(desk: Desk, models: Models, reader: Reader) -> None:
    models.challenge(finished(desk, "monday", [0.5]))
    theirs = {"Containers": [{"ModelDataUrl": "s3://theirs/model.tar.gz"}]}
    reader.sagemaker.create_model_package(
        ModelPackageGroupName="steering", InferenceSpecification=theirs, ModelApprovalStatus="Approved"
    )
    models.challenge(finished(desk, "tuesday", [0.4]))
    assert reader.approvals() == ["Rejected", "Approved", "Approved"]


def test_two_who_make_a_version_at_once_leave_one_champion(
    desk: Desk, models: Models, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has listed before the other's was made, and AWS has forgotten the token."""
    monkeypatch.setattr("orchestrator.models.model_registry.digest", lambda *_: "ours")
    models.challenge(finished(desk, "monday", [0.5]))
    monkeypatch.setattr("orchestrator.models.model_registry.digest", lambda *_: "theirs")
    really, too_early = ModelPackageGroup.versions, iter([True])
    monkeypatch.setattr(ModelPackageGroup, "versions", lambda group: [] if next(too_early, False) else really(group))
    tell_readers("steering", models.cloud, models.find)
    assert reader.approvals() == ["Rejected", "Approved"]
    assert reader.champion() == MONDAY


def test_the_last_word_is_of_the_newest_champion(desk: Desk, models: Models, reader: Reader) -> None:
    models.challenge(finished(desk, "monday", [0.5]))
    old = models.champion("steering")
    models.challenge(finished(desk, "tuesday", [0.4]))
    found = iter([old])  # somebody slow, who has looked before the second promotion
    tell_readers("steering", models.cloud, lambda name: next(found, None) or models.find(name))
    assert (reader.champion(), reader.approvals()) == (TUESDAY, ["Rejected", "Approved"])


REFUSED = ClientError(
    {"Error": {"Code": "AccessDeniedException", "Message": "not authorized to perform: sagemaker:CreateModelPackage"}},
    "CreateModelPackage",
)


@pytest.mark.parametrize(
    "broken", [REFUSED, EndpointConnectionError(endpoint_url="https://api.sagemaker.us-east-1.amazonaws.com")]
)
def test_a_registry_that_fails_holds_nothing_up_and_is_told_later(
    desk: Desk,
    models: Models,
    reader: Reader,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    broken: Exception,
) -> None:
    def fail(**_: Any) -> None:
        raise broken

    with monkeypatch.context() as patched:
        patched.setattr(models.cloud.clients.client("sagemaker", HOME, once=True), "create_model_package", fail)
        assert models.challenge(finished(desk, "monday", [0.5])).promoted
    assert "the SageMaker Model Registry of us-east-1 is not told who is champion of steering" in caplog.text
    assert reader.approvals() == []
    assert not models.challenge(finished(desk, "tuesday", [0.6])).promoted
    assert (reader.champion(), reader.approvals()) == (MONDAY, ["Approved"])


def test_a_model_of_another_region_is_brought_to_the_registry_s(desk: Desk, models: Models, clients: Clients) -> None:
    for region in (HOME, AWAY):
        more: Any = {"CreateBucketConfiguration": {"LocationConstraint": region}} if region == AWAY else {}
        clients.client("s3", region).create_bucket(Bucket=f"data-{region}", **more)
    clients.client("s3", HOME).put_object(Bucket="data-us-east-1", Key=MONDAY.partition("-1/")[2], Body=b"a model")
    models.cloud.account = replace(models.cloud.account, model_registry=AWAY)
    models.challenge(finished(desk, "monday", [0.5]))
    brought = "s3://data-eu-west-1/champions/steering/1/model.tar.gz"
    assert Reader(clients, AWAY).champion() == brought
    stored = clients.client("s3", AWAY).get_object(Bucket="data-eu-west-1", Key="champions/steering/1/model.tar.gz")
    assert stored["Body"].read() == b"a model"


def test_a_model_of_several_files_is_a_folder(desk: Desk, models: Models, reader: Reader) -> None:
    models.challenge(finished(desk, "monday", [0.5]))
    found = models.champion("steering")
    folder = replace(found, origin=7, model=replace(found.model, artifact="s3://data-us-east-1/runs/monday/0/"))
    tell_readers("steering", models.cloud, lambda _: folder)
    (container,) = reader.describe(2)["InferenceSpecification"]["Containers"]
    source = {"S3Uri": "s3://data-us-east-1/runs/monday/0/", "S3DataType": "S3Prefix", "CompressionType": "None"}
    assert container["ModelDataSource"] == {"S3DataSource": source}


def test_a_group_that_somebody_makes_a_moment_before_is_as_good(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = ModelPackageGroup(clients, HOME, "steering")
    group.ensure("ours")
    missing: Any = {"Error": {"Code": "ValidationException", "Message": "ModelPackageGroup steering does not exist."}}

    def look(**_: Any) -> None:
        raise ClientError(missing, "DescribeModelPackageGroup")

    sagemaker = clients.client("sagemaker", HOME, once=True)
    monkeypatch.setattr(sagemaker, "describe_model_package_group", look)
    group.ensure("theirs")
    (found,) = sagemaker.list_model_package_groups()["ModelPackageGroupSummaryList"]
    assert found["ModelPackageGroupDescription"] == "ours"
    with pytest.raises(InvalidRequest, match="Parameter validation failed"):
        ModelPackageGroup(clients, HOME, "").ensure("nobody's")


def test_the_local_registry_makes_a_version_of_one_token_once(clients: Clients, reader: Reader) -> None:
    group = ModelPackageGroup(clients, HOME, "steering")
    group.ensure("ours")
    version = NewVersion("ours", {"ModelDataUrl": MONDAY}, {"sweep.run": "monday"}, "a-token")
    group.create(version)
    group.create(version)
    group.create(replace(version, token="another"))
    assert reader.approvals() == ["Approved", "Approved"]


NEEDED: dict[str, Any] = {
    "bucket": "control",
    "region_bucket": "data-{region}",
    "launcher_image": "launcher",
    "role": "arn:aws:iam::123456789012:role/all",
    "region": AWAY,
}


@pytest.mark.parametrize(
    ("value", "region"),
    [(True, AWAY), ("true", AWAY), (HOME, HOME), (False, ""), ("false", ""), (None, "")],
)
def test_the_setting_is_a_region_or_true(value: Any, region: str) -> None:
    assert account(Settings(**NEEDED, model_registry=value)).model_registry == region


@pytest.mark.parametrize("value", ["yes", 3, "Ireland"])
def test_a_setting_that_cannot_be_is_told(value: Any) -> None:
    with pytest.raises(SettingsError, match="model_registry: neither a Region nor true"):
        Settings(model_registry=value)


def granted(role: str, **settings: Any) -> dict[str, Any]:
    statements = policy(role, names(Settings(region=HOME, **settings), "123456789012"))["Statement"]
    return {each["Sid"]: each for each in statements if "ModelPackage" in json.dumps(each["Action"])}


@pytest.mark.parametrize("role", ["submit", "conductor"])
def test_who_promotes_may_do_what_the_registry_takes_and_only_where_it_is_set(
    desk: Desk, models: Models, clients: Clients, role: str
) -> None:
    assert granted(role) == {}
    assert granted("launcher", model_registry=AWAY) == {}
    asked = []
    clients.client("sagemaker", HOME, once=True).meta.events.register(
        "before-call.sagemaker", lambda model, params, **_: asked.append((model.name, params["body"]))
    )
    models.challenge(finished(desk, "monday", [0.5]))
    models.challenge(finished(desk, "tuesday", [0.4]))
    taken = {each for operation, body in asked for each in needed(operation, body)}
    allowed = granted(role, model_registry=HOME).values()
    assert {action for action, _ in taken} == {action for each in allowed for action in listed(each["Action"])}
    for action, resource in taken:
        assert any(is_granted(each, action, resource) for each in allowed), (action, resource)


def needed(operation: str, body: bytes) -> list[tuple[str, str]]:
    """Return what the local cloud's IAM asks for a call."""
    scene = Scene(
        Call("sagemaker", HOME, operation, body, {}),
        "123456789012",
        json.loads(body),
        tags_of=lambda _: {},
        has_object=lambda *_: False,
        role_of=lambda *_: "",
    )
    return [(each.action, each.resource) for each in needs(scene)]


def is_granted(statement: dict[str, Any], action: str, resource: str) -> bool:
    resources = listed(statement["Resource"])
    return action in listed(statement["Action"]) and any(fnmatchcase(resource, each) for each in resources)


def listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
