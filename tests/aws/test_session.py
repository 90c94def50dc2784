"""How often a call is sent, and how long its answer is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ReadTimeoutError
from botocore.httpsession import URLLib3Session

from orchestrator.aws import session
from orchestrator.aws.jobs.batch import ArrayJob, Batch
from orchestrator.aws.session import Clients
from orchestrator.errors import Unreachable
from orchestrator.platforms.sagemaker.request import make_request
from orchestrator.platforms.sagemaker.runner import SageMakerRunner
from tests.platforms.sweeps import SPOT, TASK, template

if TYPE_CHECKING:
    from collections.abc import Callable

BATCHS_GRACE_S = 30
ARRAY = ArrayJob("nightly-s1-a1", "sweep", "sweep-launcher", 3, {}, {})


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every request that is sent. No answer ever comes."""
    requests: list[str] = []

    def send(_: URLLib3Session, request: Any) -> None:
        requests.append(request.url)
        raise ReadTimeoutError(endpoint_url=request.url)

    monkeypatch.setattr(URLLib3Session, "send", send)
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    return requests


def submit(clients: Clients) -> None:
    Batch(clients, "us-east-1").submit(ARRAY)


def start(clients: Clients) -> None:
    SageMakerRunner(clients).start(make_request(template(), TASK, SPOT, 1, 3600))


@pytest.mark.parametrize("make", [submit, start])
def test_what_must_not_happen_twice_is_sent_once(make: Callable[[Clients], None], sent: list[str]) -> None:
    with pytest.raises(Unreachable):
        make(Clients())
    assert len(sent) == 1


def test_what_may_happen_twice_is_sent_again(sent: list[str]) -> None:
    with pytest.raises(Unreachable):
        Batch(Clients(), "us-east-1").describe(["a-job"])
    assert len(sent) == session.TRIES


def test_an_answer_is_given_up_well_before_batch_kills_the_launcher(sent: list[str]) -> None:
    config = Clients().client("batch", "us-east-1", once=True).meta.config
    assert config.connect_timeout + config.read_timeout < BATCHS_GRACE_S - 5
    assert sent == []


@pytest.mark.parametrize(
    ("beside", "there", "elsewhere"),
    [
        ("cn-north-1", "cn-northwest-1", "us-east-1"),
        ("us-gov-west-1", "us-gov-east-1", "us-east-1"),
        ("eu-west-1", "us-east-1", "cn-north-1"),
        ("xx-new-1", "us-east-1", "cn-north-1"),
    ],
)
def test_the_regions_of_a_service_are_those_of_the_same_part_of_the_world(
    beside: str, there: str, elsewhere: str
) -> None:
    known = Clients().regions("s3", beside)
    assert there in known
    assert elsewhere not in known


def test_without_a_region_those_of_the_profile_s_part_of_the_world_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-gov-west-1")
    assert "us-gov-east-1" in Clients().regions("sagemaker")
