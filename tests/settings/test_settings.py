from __future__ import annotations

import getpass
import logging
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import SettingsError
from orchestrator.settings.settings import Settings, read

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / ".config" / "sweep").mkdir(parents=True)
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / "nightly").mkdir(parents=True)
    return tmp_path / "project"


def user_file(home: Path, text: str) -> Path:
    file = home / ".config" / "sweep" / "settings.toml"
    file.write_text(text)
    return file


def test_without_any_source_everything_has_its_default(project: Path) -> None:
    assert read(folder=project, environ={}) == Settings()


def test_a_flag_beats_the_environment_beats_the_project_beats_the_user(home: Path, project: Path) -> None:
    environ = {"HOME": str(home)}
    user_file(home, 'queue = "user"\nowner = "user"\nbucket = "user"\nrole = "user"')
    assert read(folder=project, environ=environ).queue == "user"
    (project / "sweep.toml").write_text('queue = "project"\nowner = "project"\nbucket = "project"')
    environ |= {"SWEEP_QUEUE": "environment", "SWEEP_OWNER": "environment"}
    settings = read({"queue": "flag", "owner": None}, folder=project, environ=environ)
    assert (settings.queue, settings.owner, settings.bucket, settings.role) == (
        "flag",
        "environment",
        "project",
        "user",
    )


def test_the_project_file_is_searched_upward_and_the_nearest_one_counts(project: Path) -> None:
    (project / "sweep.toml").write_text('queue = "above"')
    assert read(folder=project / "nightly", environ={}).queue == "above"
    (project / "nightly" / "sweep.toml").write_text('queue = "here"')
    assert read(folder=project / "nightly", environ={}).queue == "here"


def test_the_users_file_lies_where_xdg_says(tmp_path: Path, project: Path) -> None:
    (tmp_path / "xdg" / "sweep").mkdir(parents=True)
    (tmp_path / "xdg" / "sweep" / "settings.toml").write_text('owner = "somebody"')
    assert read(folder=project, environ={"XDG_CONFIG_HOME": str(tmp_path / "xdg")}).owner == "somebody"


def test_a_relative_database_lies_beside_the_file_that_names_it(project: Path) -> None:
    (project / "sweep.toml").write_text('database = "sqlite:///data/sweep.db"')
    database = read(folder=project / "nightly", environ={}).database
    assert database == f"sqlite:///{project.resolve()}/data/sweep.db"


@pytest.mark.parametrize("url", ["sqlite:////data/sweep.db", "sqlite:///:memory:", "postgresql://host/name"])
def test_any_other_database_stays_as_it_is_written(project: Path, url: str) -> None:
    (project / "sweep.toml").write_text(f'database = "{url}"')
    assert read(folder=project, environ={}).database == url


def test_the_region_follows_aws_where_sweep_says_nothing(project: Path) -> None:
    aws = {"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "us-west-2"}
    assert read(folder=project, environ=aws).region == "eu-west-1"
    assert read(folder=project, environ={"AWS_DEFAULT_REGION": "us-west-2"}).region == "us-west-2"
    (project / "sweep.toml").write_text('region = "eu-central-1"')
    assert read(folder=project, environ=aws).region == "eu-central-1"


def test_numbers_may_come_from_the_environment(project: Path) -> None:
    assert read(folder=project, environ={"SWEEP_POLL_S": "2.5"}).poll_s == 2.5


def test_an_empty_variable_says_nothing(project: Path) -> None:
    assert read(folder=project, environ={"SWEEP_QUEUE": ""}).queue == "sweep"


def test_each_platform_has_a_table_and_the_nearest_file_s_counts(home: Path, project: Path) -> None:
    file = user_file(home, "[platforms.near]\nroom = 1\n[platforms.far]\nroom = 2\nkey = 3")
    (project / "sweep.toml").write_text("[platforms.near]\nkey = 4")
    settings = read(folder=project, environ={"HOME": str(home), "SWEEP_PLATFORMS": "x"})
    assert settings.platforms == {"near": {"key": 4}, "far": {"room": 2, "key": 3}}
    assert settings.file_of("near") == f"{project.resolve()}/sweep.toml"
    assert settings.file_of("far") == str(file)
    assert settings.file_of("none") == Settings().file_of("near") == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('buckett = "x"', "unknown setting 'buckett' (did you mean 'bucket'?)"),
        ("queue = sweep", "not TOML: Invalid value (at line 1, column 9)"),
        ("poll_s = 0", "poll_s: input should be greater than 0"),
        ('max_age = "soon"', 'max_age: \'soon\' is no time above 0; write it like "90m", "24h" or "30d"'),
        ("[max_age]\nquota = '3h'", "max_age: there is no kind 'quota'; did you mean 'quotas'?"),
        ("[max_age]\nquotas = 3", 'max_age: quotas: 3 is no time above 0; write it like "90m", "24h" or "30d"'),
        ("max_age = 3", 'max_age: write a time such as "24h", or [max_age] and a time for each kind below it'),
        ("queue = 7", "queue: input should be a valid string"),
        ("platforms = 3", "platforms is no table (write [platforms.NAME], and settings below it)"),
        ("platforms.near = 3", "platforms.near is no table (write [platforms.NAME], and settings below it)"),
        ('[infra]\nregion = ["x"]', "unknown setting 'region' in [infra] (did you mean 'regions'?)"),
        ("[infra]\nmax_vcpus = 0", "infra.max_vcpus: input should be greater than or equal to 1"),
        (
            '[infra]\nsubnets = ["subnet-0a0a0a0a"]',
            "infra: security_groups is missing: a network of yours has subnets and security groups",
        ),
        (
            '[infra]\nsubnets = ["subnet-x"]\nsecurity_groups = ["sg-0a0a0a0a"]',
            "infra.subnets: not an id of one: 'subnet-x'; it is written as in subnet-0123456789abcdef0",
        ),
        (
            '[infra]\nkms_key = "alias/x"',
            "infra.kms_key: not a key's ARN: 'alias/x'; it is written as in arn:aws:kms:{region}:<account>:key/<id>",
        ),
        ('region = "nowhere-1"', "region: AWS has no Region 'nowhere-1': they are called as in eu-west-1"),
        ('region_bucket = "mine"', "region_bucket: must contain {region}, as in my-sweeps-{region}"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(project: Path, text: str, message: str) -> None:
    (project / "sweep.toml").write_text(text)
    with pytest.raises(SettingsError) as error:
        read(folder=project, environ={})
    assert str(error.value) == f"{project.resolve()}/sweep.toml: {message}"


def test_a_file_that_is_not_text_is_named(project: Path) -> None:
    (project / "sweep.toml").write_bytes(b"queue = '\xff'")
    with pytest.raises(SettingsError, match=r"sweep\.toml: cannot be read"):
        read(folder=project, environ={})


@pytest.mark.parametrize(
    ("overrides", "environ", "message"),
    [
        ({}, {"SWEEP_POLL_S": "soon"}, "SWEEP_POLL_S: poll_s: input should be a valid number"),
        ({"poll_s": -1}, {"SWEEP_POLL_S": "3"}, "--poll-s: poll_s: input should be greater than 0"),
        ({"buket": "x"}, {}, "unknown setting 'buket' (did you mean 'bucket'?)"),
        (
            {},
            {"SWEEP_LANE_QUEUE": "sweep-{zone}"},
            "SWEEP_LANE_QUEUE: lane_queue: may contain {platform}, {region}, {instance_type}, {purchase}, and "
            "no {zone}",
        ),
        ({}, {"SWEEP_LANE_QUEUE": "sweep-{"}, "SWEEP_LANE_QUEUE: lane_queue: cannot be read: "),
    ],
)
def test_a_wrong_value_is_named_with_where_it_comes_from(
    project: Path, overrides: dict[str, Any], environ: dict[str, str], message: str
) -> None:
    with pytest.raises(SettingsError) as error:
        read(overrides, folder=project, environ=environ)
    assert str(error.value).startswith(message)


def test_a_variable_that_is_nearly_ours_is_worth_a_warning(project: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        read(folder=project, environ={"SWEEP_BUKET": "x", "SWEEP_ANGLE": "3", "SWEEP_BUCKET": "y"})
    assert caplog.messages == ["SWEEP_BUKET is not a setting; did you mean SWEEP_BUCKET?"]


def test_what_is_needed_must_be_set(project: Path) -> None:
    settings = read({"bucket": "mine"}, folder=project, environ={})
    settings.require("bucket", "queue")
    with pytest.raises(SettingsError) as error:
        settings.require("bucket", "region_bucket", "role")
    assert str(error.value) == (
        "region_bucket and role are not set "
        '(export SWEEP_REGION_BUCKET and SWEEP_ROLE, or write `region_bucket = "…"` and `role = "…"` in sweep.toml)'
    )


def test_settings_never_change(project: Path) -> None:
    with pytest.raises(FrozenInstanceError):
        read(folder=project, environ={}).queue = "other"  # type: ignore[misc]


def test_an_owner_without_a_login_name_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "me")
    assert Settings().owner == "me"

    def nameless() -> str:
        raise KeyError("no such user")

    monkeypatch.setattr(getpass, "getuser", nameless)
    assert Settings().owner == "unknown"
