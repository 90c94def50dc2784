"""An MLflow registry names the champion, whoever it is; and one that is away holds no promotion up."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import SettingsError
from orchestrator.models.models import Models
from orchestrator.settings.settings import Settings
from tests.models.bench import finished
from tests.models.mlflow_server import Registry, mlflow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients
    from tests.runs.bench import Desk

MONDAY = "s3://data-us-east-1/runs/monday/0/model.tar.gz"
TUESDAY = "s3://data-us-east-1/runs/tuesday/0/model.tar.gz"
REGION = "eu-west-1"


@pytest.fixture
def registry() -> Iterator[Registry]:
    with mlflow() as made:
        yield made


def told(desk: Desk, uri: str, **more: Any) -> Models:
    cloud = desk.cloud()
    cloud.account = replace(cloud.account, mlflow=uri, **more)
    return Models(cloud, "ada", lambda *_: "a mark")


def test_the_alias_follows_the_champion(desk: Desk, registry: Registry) -> None:
    models = told(desk, registry.uri)
    assert models.challenge(finished(desk, "monday", [0.5])).promoted
    assert registry.source("steering") == MONDAY
    assert models.challenge(finished(desk, "tuesday", [0.4])).promoted
    assert registry.source("steering") == TUESDAY
    models.rollback("steering")
    assert registry.source("steering") == MONDAY
    assert [one["version"] for one in registry.versions["steering"]] == ["1", "2"]  # a rollback makes no third
    tags = {tag["key"]: tag["value"] for tag in registry.versions["steering"][1]["tags"]}
    assert tags == {"sweep.promotion": "2", "sweep.run": "tuesday", "sweep.task": "0", "sweep.loss": "0.4"}


def test_saying_it_again_changes_nothing(desk: Desk, registry: Registry) -> None:
    models, run = told(desk, f"{registry.uri}/"), finished(desk, "monday", [0.5])
    for _ in range(3):
        models.challenge(run)
    assert len(registry.versions["steering"]) == 1


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ((500, b'{"error_code": "INTERNAL_ERROR", "message": "the store is away"}'), "the store is away"),
        ((502, b"<html>Bad Gateway</html>"), "127.0.0.1: it answers 502"),
        ((200, b"<html>Sign in</html>"), "it does not answer as MLflow does"),
        ((200, b"[]"), "it does not answer as MLflow does"),
        ((401, b""), "it answers 401"),
    ],
)
def test_a_registry_that_fails_holds_nothing_up_and_is_told_later(
    desk: Desk, registry: Registry, caplog: pytest.LogCaptureFixture, broken: tuple[int, bytes], said: str
) -> None:
    models = told(desk, registry.uri)
    registry.broken = broken
    assert models.challenge(finished(desk, "monday", [0.5])).promoted
    assert "MLflow is not told who is champion of steering" in caplog.text
    assert said in caplog.text
    registry.broken = None
    assert not models.challenge(finished(desk, "tuesday", [0.6])).promoted
    assert registry.source("steering") == MONDAY


def test_a_registry_that_is_gone_holds_nothing_up(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    with mlflow() as gone:
        uri = gone.uri
    assert told(desk, uri).challenge(finished(desk, "monday", [0.5])).promoted
    assert "it does not answer as MLflow does: ConnectionRefusedError" in caplog.text


def test_its_token_is_read_where_it_lies(desk: Desk, registry: Registry, clients: Clients) -> None:
    clients.client("ssm", REGION).put_parameter(Name="/team/mlflow", Value="s3cret\n", Type="SecureString")
    models = told(desk, registry.uri, mlflow_token=f"ssm:{REGION}:/team/mlflow")
    models.cloud.clients = clients
    models.challenge(finished(desk, "monday", [0.5]))
    assert registry.tokens == {"Bearer s3cret"}


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("mlflow", "mlflow.example.com", "no address of a server"),
        ("mlflow", "https://ada:secret@mlflow.example.com", "an address with a password in it"),
        ("mlflow_token", "s3cret", "is no reference"),
    ],
)
def test_a_setting_that_cannot_be_is_told(setting: str, value: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said) as told_:
        Settings(database="sqlite://", **{setting: value})  # type: ignore[arg-type]
    assert "ada:secret" not in str(told_.value)


# The real one: `make trackers` installs it beside, for it is heavy.
ROOT = Path(__file__).parents[2]
PATIENCE_S = 300.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a real MLflow server, with a database of its own."""
    program = ROOT / ".trackers" / "bin" / "mlflow"
    if not program.exists():
        pytest.skip("MLflow is not installed: `make trackers` installs it")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    store = f"sqlite:///{tmp_path / 'mlflow.db'}"
    command = [program, "server", "--port", str(port), "--backend-store-uri", store, "--workers", "1"]
    uri = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(f"{uri}/health", process)
        yield uri
    finally:
        process.terminate()
        process.wait()


def _wait_for(uri: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        assert process.poll() is None, "it has ended"
        try:
            with urllib.request.urlopen(uri, timeout=5):
                return
        except OSError:
            time.sleep(0.3)
    raise AssertionError("it does not begin")


@pytest.mark.long
def test_a_real_server_is_told_and_its_readers_find_the_champion(desk: Desk, server: str) -> None:
    models = told(desk, server)
    for name, loss, source in (("monday", 0.5, MONDAY), ("tuesday", 0.4, TUESDAY)):
        assert models.challenge(finished(desk, name, [loss])).promoted
        assert _alias(server)["source"] == source
    models.rollback("steering")
    assert _alias(server)["source"] == MONDAY
    assert _alias(server)["version"] == "1"


def _alias(server: str) -> dict[str, Any]:
    asked = f"{server}/api/2.0/mlflow/registered-models/alias?name=steering&alias=champion"
    with urllib.request.urlopen(asked, timeout=30) as answer:
        found: dict[str, Any] = json.load(answer)["model_version"]
    return found
