"""What the runner asks, and in which order: an instance may go between any two questions."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from orchestrator.errors import InvalidRequest, NoCapacity, QuotaExceeded, Unreachable
from orchestrator.platforms.ec2 import runner as runner_module
from orchestrator.platforms.ec2.runner import Ec2Runner
from orchestrator.platforms.ec2.sent.request import make_request
from orchestrator.platforms.ec2.watching.console import find_last_words
from orchestrator.platforms.ec2.watching.left import Launched, Left
from orchestrator.platforms.ec2.watching.machines import Machine
from orchestrator.runs.past.attempts import rows_of_attempts
from orchestrator.training.bare.telling.outcome import MachineOutcome
from orchestrator.wire.names import S3Uri
from orchestrator.wire.result import Attempt, Result, TaskState
from orchestrator.wire.task import Purchase
from tests.platforms.ec2.ec2_sweeps import place, task, template

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Request

BUCKET = "team-eu-west-1"


@pytest.fixture
def bucket(clients: Clients) -> None:
    clients.client("s3", "eu-west-1").create_bucket(
        Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
    )


def _raise_unreachable(*_: object) -> None:
    raise Unreachable("S3 is away")


def asked(**more: Any) -> tuple[Request, Attempt]:
    at = place(**more)
    request = make_request(template(), task(at), at, 1, 3600)
    attempt = Attempt(
        912,
        1,
        0,
        at.lane,
        request.training,
        request.hash,
        3600,
        0.0,
        at.rate,
        output="s3://team-eu-west-1/runs/nightly",
    )
    return request, attempt


@pytest.mark.usefixtures("bucket")
def test_an_instance_that_ends_while_it_is_looked_at_has_not_ended_without_a_word(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes its last word, and goes: whoever sees that it is gone must see that word."""
    request, attempt = asked()
    folder = S3Uri.parse(request.body["uri"]).key.rpartition("/")[0]

    def end(*_: object) -> list[Machine]:
        said = MachineOutcome(0, "done", started_at=1.0, ended_at=2.0).to_json()
        clients.client("s3", "eu-west-1").put_object(Bucket=BUCKET, Key=f"{folder}/machines/0/outcome.json", Body=said)
        code = "Client.InstanceInitiatedShutdown"
        return [Machine("i-0", 0, "terminated", "eu-west-1a", 0.0, 3.0, code, "", {}, "g5.xlarge", False, False)]

    monkeypatch.setattr(Ec2Runner, "_machines", end)
    outcome = Ec2Runner(clients).poll(attempt)
    assert outcome is not None
    assert outcome.state is TaskState.DONE


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("InsufficientInstanceCapacity", NoCapacity),
        ("VcpuLimitExceeded", QuotaExceeded),
        ("InvalidAMIID.NotFound", InvalidRequest),
    ],
)
def test_a_refusal_is_what_it_means_and_leaves_the_assignment_only(
    clients: Clients, monkeypatch: pytest.MonkeyPatch, code: str, kind: type[Exception]
) -> None:
    request, attempt = asked()

    def refuse(**_: Any) -> None:
        raise ClientError({"Error": {"Code": code, "Message": "words of EC2"}}, "RunInstances")

    monkeypatch.setattr(clients.client("ec2", "eu-west-1", once=True), "run_instances", refuse)
    with pytest.raises(kind, match="words of EC2"):
        Ec2Runner(clients).start(request)
    uri = S3Uri.parse(request.body["uri"])
    stored = clients.client("s3", "eu-west-1").get_object(Bucket=BUCKET, Key=uri.key)["Body"].read()
    assert json.loads(stored) == request.body["assignment"]
    assert Ec2Runner(clients).poll(attempt) is None


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize(
    ("code", "message", "hint"),
    [
        ("InvalidAMIID.NotFound", "The image id '[ami-1]' does not exist", "gone since: submit the sweep again"),
        ("InvalidAMIID.Unavailable", "The image ID 'ami-1' is unavailable", "gone since: submit the sweep again"),
        ("InvalidSubnetID.NotFound", "The subnet ID 'subnet-1' does not exist", "mend platforms.ec2.network"),
        ("InvalidParameterValue", "Value (x) for parameter iamInstanceProfile.name is invalid", "sweep infra deploy"),
    ],
)
def test_what_is_gone_since_the_run_was_submitted_is_told_and_leaves_no_group(
    clients: Clients, monkeypatch: pytest.MonkeyPatch, code: str, message: str, hint: str
) -> None:
    request, _ = asked(instances=2)
    groups: list[str] = []

    def refuse(**_: Any) -> None:
        raise ClientError({"Error": {"Code": code, "Message": message}}, "RunInstances")

    ec2, once = (clients.client("ec2", "eu-west-1", once=sends_once) for sends_once in (False, True))
    monkeypatch.setattr(once, "run_instances", refuse)
    monkeypatch.setattr(once, "create_placement_group", lambda **made: groups.append(made["GroupName"]))
    monkeypatch.setattr(ec2, "delete_placement_group", lambda **gone: groups.remove(gone["GroupName"]))
    with pytest.raises(InvalidRequest, match=r"does not exist|unavailable|invalid") as caught:
        Ec2Runner(clients).start(request)
    assert hint in str(caught.value.hint)
    assert groups == []


@pytest.mark.usefixtures("bucket")
def test_which_instances_there_are_is_read_once(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is written once, and a launcher asks every few seconds."""
    _, attempt = asked()
    running = Machine("i-0", 0, "running", "eu-west-1a", 0.0, None, "", "", {}, "g5.xlarge", False, False)
    monkeypatch.setattr(Ec2Runner, "_machines", lambda *_: [running])
    Left(clients, attempt).remember_launch(Launched(("i-0",), 0.0, "eu-west-1"))
    read: list[str] = []
    clients.client("s3", "eu-west-1").meta.events.register(
        "before-call.s3.GetObject", lambda params, **_: read.append(params["url_path"].rpartition("/")[2])
    )
    runner = Ec2Runner(clients)
    for _ in range(3):
        outcome = runner.poll(attempt)
        assert outcome is not None
        assert outcome.state is TaskState.RUNNING
    assert read.count("launched.json") == 1


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize(
    ("purchase", "told", "looks", "billed_s"),
    [
        (Purchase.ON_DEMAND, None, True, 1000 + 30),  # it was seen to be gone half a minute later, while S3 was away
        (Purchase.ON_DEMAND, None, False, 3600 + 900),  # nobody looked: its watchdogs had ended it by then
        (Purchase.SPOT, 1000, False, 1000),  # its request tells
        (Purchase.SPOT, 1000, True, 1000),
    ],
)
def test_an_instance_that_went_without_a_word_while_s3_was_away_has_not_ended_when_s3_came_back(
    clients: Clients, monkeypatch: pytest.MonkeyPatch, purchase: Purchase, told: int | None, looks: bool, billed_s: int
) -> None:
    """It went after 1000 s. S3 is back after a day."""
    _, attempt = asked(purchase=purchase)
    now = time.time()
    born = int(now) - 1030.0
    request = "sir-1" if purchase is Purchase.SPOT else ""
    alive = Machine("i-0", 0, "running", "eu-west-1a", born, None, "", "", {}, "g5.xlarge", False, spot_request=request)
    gone = replace(alive, state="terminated", code="Client.InstanceInitiatedShutdown")
    ec2 = clients.client("ec2", "eu-west-1")
    over = {"State": "closed", "Status": {"UpdateTime": datetime.fromtimestamp(born + (told or 0), timezone.utc)}}
    monkeypatch.setattr(ec2, "describe_spot_instance_requests", lambda **_: {"SpotInstanceRequests": [over]})
    monkeypatch.setattr(runner_module, "find_machines", lambda *_: [[seen[-1]]])
    monkeypatch.setattr(runner_module, "spot_prices", lambda *_: {})
    clock = [now]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    seen, runner = [alive], Ec2Runner(clients)
    assert runner.poll(attempt) is not None
    if looks:
        seen.append(gone)
        with monkeypatch.context() as away:
            away.setattr(Left, "ended", _raise_unreachable)
            assert (away_now := runner.poll(attempt)) is not None
            assert (away_now.state, away_now.has_machines) == (TaskState.RUNNING, False)
            assert away_now.lost_at == pytest.approx(born + billed_s, abs=2)
            seen.append(alive)
            with pytest.raises(Unreachable):
                runner.poll(attempt)
    seen.append(gone)
    clock[0] += 86_400
    outcome = runner.poll(attempt)
    assert outcome is not None
    assert outcome.billable_s == pytest.approx(billed_s, abs=2)


@pytest.mark.usefixtures("bucket")
def test_what_is_known_of_an_instance_that_went_without_a_word_is_told(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, attempt = asked()
    gone = "Client.InstanceInitiatedShutdown"
    machine = Machine("i-0", 0, "terminated", "eu-west-1a", 0.0, 9.0, gone, "", {}, "g5.xlarge", False, False)
    monkeypatch.setattr(Ec2Runner, "_machines", lambda *_: [machine])
    console = (
        "[   21.4] cloud-init[1812]: sweep: https://s3/sources.tar.gz: HTTP Error 403: Forbidden\n[ OK ] Power-Off"
    )
    client = clients.client("ec2", "eu-west-1")
    monkeypatch.setattr(client, "get_console_output", lambda **_: {"Output": console})
    outcome = Ec2Runner(clients).poll(attempt)
    assert outcome is not None
    assert outcome.reason == (
        "i-0 shut itself down before it began, and could not say why; the last on its console: "
        "sweep: https://s3/sources.tar.gz: HTTP Error 403: Forbidden "
        "(the role of its instance profile may not do that: `sweep doctor` says what it lacks)"
    )


@pytest.mark.usefixtures("bucket")
def test_a_console_that_may_not_be_read_hides_no_outcome(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    _, attempt = asked()
    gone = "Client.InstanceInitiatedShutdown"
    machine = Machine("i-0", 0, "terminated", "eu-west-1a", 0.0, 9.0, gone, "", {}, "g5.xlarge", False, False)
    monkeypatch.setattr(Ec2Runner, "_machines", lambda *_: [machine])

    def refuse(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "UnauthorizedOperation", "Message": "no"}}, "GetConsoleOutput")

    monkeypatch.setattr(clients.client("ec2", "eu-west-1"), "get_console_output", refuse)
    outcome = Ec2Runner(clients).poll(attempt)
    assert outcome is not None
    assert outcome.reason.endswith("could not say why; EC2 shows nothing of its console")


@pytest.mark.parametrize(
    ("console", "shown"),
    [
        ("", ""),
        (
            "booting\n\nmain: line 6: python3: command not found\n",
            "booting | main: line 6: python3: command not found (the image has no Python 3: mend platforms.ec2.ami)",
        ),
        (
            "sweep: machine 0 of 1 at 10.0.0.9 for r-0-1\nTraceback:\nMemoryError",
            "sweep: machine 0 of 1 at 10.0.0.9 for r-0-1 | Traceback: | MemoryError",
        ),
        (
            "[ 1.0] kernel: hi\n[ 2.0] cloud-init[7]: sweep: cannot start: x\n[ 3.0] kernel: off",
            "sweep: cannot start: x",
        ),
    ],
)
def test_the_last_of_our_own_lines_and_the_end_are_what_counts_of_a_console(console: str, shown: str) -> None:
    assert find_last_words(console) == shown


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("http://169.254.169.254/latest/api/token: <urlopen error timed out>", "HttpPutResponseHopLimit"),
        ("http://169.254.169.254/latest/api/token: HTTP Error 403: Forbidden", "HttpEndpoint"),
        ("http://169.254.169.254/latest/meta-data/iam/security-credentials/: HTTP Error 404: Not Found", "has no role"),
        ("https://s3.eu-west-1.amazonaws.com/b/k.tar.gz: HTTP Error 403: Forbidden", "`sweep doctor`"),
    ],
)
def test_what_is_behind_the_last_words_is_told_with_them(said: str, hint: str) -> None:
    found = find_last_words(f"[    9.1] cloud-init[812]: sweep: {said}\n[   10.2] systemd[1]: Powering off.")
    assert found.startswith(f"sweep: {said} (")
    assert hint in found


def test_a_bucket_that_is_not_there_has_no_trainings(clients: Clients) -> None:
    assert Ec2Runner(clients).poll(asked()[1]) is None
    Ec2Runner(clients).stop(asked()[1])


@pytest.mark.usefixtures("bucket")
def test_what_is_billed_and_what_is_learned_of_a_start_and_of_the_work_add_up(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It boots for 100 s, works for 400 s by a clock that is an hour slow, and shuts down within 20 s."""
    request, attempt = asked()
    folder = S3Uri.parse(request.body["uri"]).key.rpartition("/")[0]
    running = Machine("i-0", 0, "running", "eu-west-1a", 5000.0, None, "", "", {}, "g5.xlarge", False, False)
    monkeypatch.setattr(Ec2Runner, "_machines", lambda *_: [running])
    runs = Ec2Runner(clients).poll(attempt)
    assert runs is not None
    assert (runs.state, runs.usd, runs.billable_s) == (TaskState.RUNNING, 0.0, 0.0), "known when it has ended"

    said = MachineOutcome(0, "done", started_at=1500.0, ended_at=1900.0).to_json()
    clients.client("s3", "eu-west-1").put_object(Bucket=BUCKET, Key=f"{folder}/machines/0/outcome.json", Body=said)
    code = "Client.InstanceInitiatedShutdown"
    gone = Machine("i-0", 0, "terminated", "eu-west-1a", 5000.0, 5520.0, code, "", {}, "g5.xlarge", False, False)
    monkeypatch.setattr(Ec2Runner, "_machines", lambda *_: [gone])
    outcome = Ec2Runner(clients).poll(attempt)
    assert outcome is not None
    assert (outcome.billable_s, outcome.usd) == (520.0, pytest.approx(520 / 3600 * attempt.rate))
    result = Result(912, "key", TaskState.DONE, outcomes=(replace(outcome, requested_at=5000.0),))
    (row,) = rows_of_attempts("nightly", result)
    assert (row["seconds"], row["start_s"]) == (400.0, 120.0)
