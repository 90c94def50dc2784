"""What runs inside a training fetches its secrets, in an image with boto3 and in one without."""

from __future__ import annotations

import http.server
import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.training import aws_call, credentials
from orchestrator.training.references import Reference, variable
from orchestrator.training.secrets import CannotFetch, with_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SECRET = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:"


@pytest.fixture(params=["with boto3", "without"])
def image(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """An image that has boto3, and one that has not. Neither waits for long."""
    monkeypatch.setattr(aws_call, "find_spec", lambda _: request.param == "with boto3" or None)
    monkeypatch.setattr(aws_call.time, "sleep", lambda _: None)


@pytest.fixture
def stored(client: Callable[..., Any], name: str) -> str:
    """The beginning of the names of what lies in the local cloud's Parameter Store and Secrets Manager."""
    client("ssm", "eu-west-1").put_parameter(Name=f"/{name}/wandb", Value="hunter2", Type="SecureString")
    manager = client("secretsmanager", "eu-west-1")
    manager.create_secret(Name=f"{name}/db", SecretString=json.dumps({"password": "pass=word", "port": 5432}))
    manager.create_secret(Name=f"{name}/text", SecretString="two\nlines")
    manager.create_secret(Name=f"{name}/bytes", SecretBinary=b"\1")
    return name


@pytest.mark.usefixtures("image")
def test_references_become_variables_with_their_values(cloud_environment: dict[str, str], stored: str) -> None:
    environ = {
        **cloud_environment,
        variable("WANDB_API_KEY"): f"ssm:eu-west-1:/{stored}/wandb",
        variable("DB_PASSWORD"): f"secret:{SECRET}{stored}/db#password",
        variable("DB_PORT"): f"secret:{SECRET}{stored}/db#port",
        variable("TEXT"): f"secret:{SECRET}{stored}/text",
    }
    found = with_secrets(environ)
    values = {"WANDB_API_KEY": "hunter2", "DB_PASSWORD": "pass=word", "DB_PORT": "5432", "TEXT": "two\nlines"}
    assert found == {**cloud_environment, **values}


@pytest.mark.usefixtures("image")
@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("ssm:eu-west-1:/{name}/other", "ParameterNotFound"),
        ("ssm:us-east-1:/{name}/wandb", "ParameterNotFound"),
        (f"secret:{SECRET}{{name}}/other", "ResourceNotFoundException"),
        (f"secret:{SECRET}{{name}}/db#user", "it has no field user"),
        (f"secret:{SECRET}{{name}}/text#user", "it is no JSON object, and so has no field user"),
        (f"secret:{SECRET}{{name}}/bytes", "it is binary"),
        ("ssm:/{name}/wandb", "not a reference to a secret"),
        ("vault:/{name}", "not a reference to a secret"),
    ],
)
@pytest.mark.usefixtures("cloud_environment")
def test_what_cannot_be_fetched_is_named_in_one_line_without_any_value(
    cloud_environment: dict[str, str], stored: str, reference: str, why: str
) -> None:
    reference = reference.format(name=stored)
    with pytest.raises(CannotFetch) as caught:
        with_secrets({**cloud_environment, variable("X"): reference})
    said = str(caught.value)
    assert said.startswith(f"the secret X ({reference}) cannot be fetched: ")
    assert why in said
    assert "\n" not in said
    assert "hunter2" not in said


@pytest.mark.usefixtures("image")
def test_a_key_that_is_refused_is_told(cloud_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    environ = {**cloud_environment, "AWS_SECRET_ACCESS_KEY": "wrong", variable("X"): "ssm:eu-west-1:/x"}
    with pytest.raises(CannotFetch, match="signature"):
        with_secrets(environ)


@pytest.mark.parametrize("text", ["ssm:eu-west-1:/team/a", f"secret:{SECRET}a", f"secret:{SECRET}a/b#c"])
def test_a_reference_is_read_as_it_was_written(text: str) -> None:
    assert str(Reference.parse(text)) == text


# Credentials, in an image without boto3


class Agent(http.server.BaseHTTPRequestHandler):
    """What gives a container its role's credentials, and a Parameter Store that fails at first."""

    given: dict[str, str]
    seen: list[tuple[str, str, dict[str, str]]]
    failures: list[tuple[int, dict[str, str]]]

    def do_GET(self) -> None:
        self.seen.append(("GET", self.path, self._headers()))
        self._answer(200, self.given)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append(("POST", self.path, self._headers()))
        if self.failures:
            self._answer(*self.failures.pop(0))
        else:
            self._answer(200, {"Parameter": {"Value": "hunter2"}})

    def _headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def agent(*failures: tuple[int, dict[str, str]]) -> Iterator[tuple[str, list[tuple[str, str, dict[str, str]]]]]:
    given = {"AccessKeyId": "ASIAROLE", "SecretAccessKey": "s", "Token": "session"}
    handler = type("Handler", (Agent,), {"given": given, "seen": [], "failures": list(failures)})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", handler.seen  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()


@pytest.fixture
def bare_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aws_call, "find_spec", lambda _: None)
    monkeypatch.setattr(aws_call.time, "sleep", lambda _: None)


@pytest.mark.usefixtures("bare_image")
@pytest.mark.parametrize("way", ["relative", "full, with a token", "full, with a token in a file"])
def test_the_roles_credentials_come_from_the_containers_agent(
    way: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("pod\n")
    with agent() as (address, seen):
        monkeypatch.setattr(credentials, "_AGENT", address)
        environ = {variable("X"): "ssm:eu-west-1:/x", "AWS_ENDPOINT_URL_SSM": address}
        if way == "relative":
            environ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/v2/credentials/1"
        else:
            environ["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = f"{address}/v2/credentials/1"
            file = {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(tmp_path / "token")}
            environ |= file if way.endswith("file") else {"AWS_CONTAINER_AUTHORIZATION_TOKEN": "pod"}
        assert with_secrets(environ)["X"] == "hunter2"
    (_, path, asked), (_, _, sent) = seen
    assert path == "/v2/credentials/1"
    assert asked.get("authorization") == (None if way == "relative" else "pod")
    assert "Credential=ASIAROLE/" in sent["authorization"]
    assert sent["x-amz-security-token"] == "session"


PLAIN = {"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "s", variable("X"): "ssm:eu-west-1:/x"}


@pytest.mark.usefixtures("bare_image")
def test_what_passes_is_asked_for_again() -> None:
    failures = [(500, {"message": "sorry"}), (400, {"__type": "ThrottlingException", "message": "Rate exceeded"})]
    with agent(*failures) as (address, seen):
        assert with_secrets({**PLAIN, "AWS_ENDPOINT_URL": address})["X"] == "hunter2"
    assert len(seen) == 3


@pytest.mark.usefixtures("bare_image")
def test_what_does_not_pass_is_told_at_once() -> None:
    denied = {"__type": "com.amazon#AccessDeniedException", "Message": "the role may not"}
    with agent((400, denied)) as (address, seen), pytest.raises(CannotFetch) as caught:
        with_secrets({**PLAIN, "AWS_ENDPOINT_URL": address})
    assert "AccessDeniedException: the role may not" in str(caught.value)
    assert len(seen) == 1


@pytest.mark.usefixtures("bare_image")
def test_a_service_that_is_not_there_and_no_credentials_are_told() -> None:
    with pytest.raises(CannotFetch, match="refused"):
        with_secrets({**PLAIN, "AWS_ENDPOINT_URL": "http://127.0.0.1:1"})
    with pytest.raises(CannotFetch, match="there are no AWS credentials in the training"):
        with_secrets({variable("X"): "ssm:eu-west-1:/x", "AWS_EC2_METADATA_DISABLED": "true"})
