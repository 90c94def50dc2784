"""The settings: where the database, the buckets and the roles are. (A profile is AWS's.)

A flag wins over SWEEP_<NAME> in the environment, that over ./sweep.toml (searched upward), and that over
~/.config/sweep/settings.toml. What belongs to one platform alone stands in a table of a file, and it alone reads it:

    [platforms.sagemaker]
    role = "arn:aws:iam::123456789012:role/training"
"""

from __future__ import annotations

import getpass
import logging
import os
import sys
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator import files
from orchestrator.errors import SettingsError, did_you_mean
from orchestrator.settings.values import checked_value, database_beside

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from orchestrator.settings.infra import InfraSettings

_PREFIX = "SWEEP_"
PROJECT_FILE = "sweep.toml"
_PLATFORMS = "platforms"
_INFRA = "infra"

_MADE = frozenset({"bucket", "region_bucket", "launcher_image", "job_role", "execution_role"})
"""Settings of what `sweep infra deploy` makes, and every local cloud has."""
_MAKERS = '`sweep infra deploy` does so for an account, `eval "$(sweep local up -d)"` for an AWS on this machine'

logger = logging.getLogger(__name__)


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as containers have
        return "unknown"


@dataclass(frozen=True)
class Settings:
    """The settings that are in force. It is no model of pydantic's: every command reads them, and most need no other.

    Raises SettingsError for a value that cannot be.
    """

    database: str = "sqlite:///sweep.db"
    """sqlite:///FILE or postgresql://…"""
    campaign_database: str | None = None
    """SQLAlchemy URL of a team's own campaign database: `sweep catalog import` reads it."""
    campaign_query: str | None = None
    """File of the query whose rows are the campaigns, datasets and replicas there."""
    spot_advisor: str | None = None
    """URL or file from which the feed spot-advisor reads; None is where AWS publishes it."""
    profile: str | None = None
    """AWS profile; None is boto3's own choice."""
    region: str = "us-east-1"
    """Control Region: AWS Batch and the control bucket."""
    bucket: str | None = None
    """Control bucket."""
    region_bucket: str | None = None
    """The bucket of each Region, for sources and outputs; contains {region}."""
    role: str | None = None
    """ARN of the role that trainings run under."""
    job_role: str | None = None
    """ARN of the role that launchers run under."""
    execution_role: str | None = None
    """ARN of the role that starts launchers' containers."""
    queue: str = "sweep"
    """AWS Batch job queue."""
    lane_queue: str | None = None
    """Queue of tasks that wait for a lane's slots; else `queue`. It may hold the lane's {platform}, {region},
    {instance_type} and {purchase}."""
    launcher_base: str | None = None
    """Image, in a registry or a file, that ours of the launcher is made on; None is Python's own slim one."""
    launcher_image: str | None = None
    """Container image of the launcher."""
    launcher_platforms: tuple[str, ...] = ()
    """Platforms of other packages that the launcher's image has; in the environment, a,b."""
    conductor_image: str | None = None
    """Container image of the conductor, which a schedule's job runs."""
    conductor_role: str | None = None
    """ARN of the role that conductors run under: one that may submit. Without it, that of launchers."""
    schedule_group: str | None = None
    """Group of EventBridge Scheduler that schedules are made in."""
    schedule_role: str | None = None
    """ARN of the role under which schedules start their jobs."""
    schedule_dead_letters: str | None = None
    """ARN of the SQS queue for what EventBridge Scheduler could not deliver."""
    topic: str | None = None
    """ARN of the SNS topic that notices go to."""
    log_group: str = "/aws/batch/job"
    """The group where launchers log."""
    owner: str = field(default_factory=_login_name)
    """Tag of everything started."""
    owner_budget: float | None = None
    """Dollars that all runs of one owner may cost which are submitted in a calendar month (UTC)."""
    notify: tuple[str, ...] = ()
    """SNS topics and webhooks that are told what becomes of runs; in the environment, a,b."""
    notify_secret: str | None = None
    """Reference to the secret that webhooks are signed with, such as ssm:eu-west-1:/team/webhooks."""
    mlflow: str | None = None
    """Address of an MLflow server, in whose registry the champion of each workload has an alias."""
    mlflow_token: str | None = None
    """Reference to the secret that this server takes as a bearer token, such as ssm:eu-west-1:/team/mlflow."""
    model_registry: str | bool | None = None
    """Region of the SageMaker Model Registry that knows each workload's champion; true is the control Region."""
    max_age: str | dict[str, str] = field(default_factory=dict)
    """The ages that facts may have before a plan warns of them; in the environment one time for all, such as 12h."""
    poll_s: float = 30.0
    """Launchers look at their training no more often than this."""
    platforms: dict[str, dict[str, Any]] = field(default_factory=dict)
    """A table for each platform, such as [platforms.sagemaker]: the platform says what is in it."""
    infra_table: dict[str, Any] = field(default_factory=dict)
    """The table [infra], as it is written."""
    _files: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    """The file that each platform's table stands in."""
    _said: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    """The settings that some source has named."""

    def __post_init__(self) -> None:
        for name in NAMES:
            try:
                object.__setattr__(self, name, checked_value(name, getattr(self, name), optional=name in _OPTIONAL))
            except ValueError as error:
                raise SettingsError(f"{name}: {error}") from error

    @cached_property
    def infra(self) -> InfraSettings:
        """What `sweep infra` need not make, and how large it makes the rest: the table [infra]."""
        from orchestrator.settings.infra import read_infra

        return read_infra(self.infra_table, "")

    @property
    def registry_region(self) -> str:
        """The Region of the SageMaker Model Registry; empty for none."""
        return self.region if self.model_registry is True else self.model_registry or ""

    def says(self, name: str) -> bool:
        """Return whether somebody has set this, rather than left it at what it is by itself."""
        default = next(each.default for each in fields(self) if each.name == name)
        return name in self._said or getattr(self, name) != default

    def file_of(self, platform: str) -> str:
        """Return the file that this platform's table stands in; nothing if there is none."""
        return self._files.get(platform, "")

    def require(self, *names: str) -> None:
        """Raise SettingsError, with what to write where, unless all of these are set."""
        missing = [name for name in names if getattr(self, name) in (None, "")]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            variables = " and ".join(map(_variable, missing))
            lines = " and ".join(f'`{name} = "…"`' for name in missing)
            hint = f"export {variables}, or write {lines} in {PROJECT_FILE}"
            if _MADE.issuperset(missing):
                hint += f"; {_MAKERS}"
            raise SettingsError(f"{' and '.join(missing)} {verb} not set", hint=hint)


NAMES = tuple(each.name for each in fields(Settings) if each.name not in ("_files", "_said", "infra_table"))
"""The settings that are values, and the platforms' tables."""
_OPTIONAL = {each.name for each in fields(Settings) if each.default is None}


def read(
    overrides: Mapping[str, object] | None = None,
    *,
    folder: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Settings:
    """Return the settings that are in force in a folder, by default the current one.

    Overrides are what options say; those that are None were not given. Raise SettingsError for an unknown or wrong
    setting, with the source that says it.
    """
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    tables: dict[str, object] = {}
    files: dict[str, str] = {}
    for layer in _layers(overrides or {}, folder or Path.cwd(), environ):
        values |= layer.values
        origins |= {name: layer.origin(name) for name in layer.values}
        given = layer.values.get(_PLATFORMS)
        if isinstance(given, dict):  # a nearer file's table takes the place of a platform's, not of all
            tables |= given
            files |= dict.fromkeys(given, origins[_PLATFORMS])
            values[_PLATFORMS] = tables
    infra = values.pop(_INFRA, {})
    for name, value in values.items():
        _check(name, value, origins[name], files)
    settings = Settings(**values, infra_table=infra, _files=files, _said=frozenset(values))  # type: ignore[arg-type]  # those were refused
    if infra != {}:
        from orchestrator.settings.infra import read_infra

        settings.__dict__["infra"] = read_infra(infra, origins[_INFRA])
    return settings


class _Layer(NamedTuple):
    """What one source says."""

    values: dict[str, object]
    origin: Callable[[str], str]
    """Names the source of a setting, as an error should call it."""


def _layers(overrides: Mapping[str, object], folder: Path, environ: Mapping[str, str]) -> Iterator[_Layer]:
    """Yield what each source says, the weakest first."""
    yield _Layer(_aws_region(environ), lambda _: "AWS_REGION")
    for file in (_user_file(environ), project_file(folder)):
        if file is not None and file.is_file():
            yield _Layer(_from_file(file), lambda _, file=file: str(file))  # type: ignore[misc]
    yield _Layer(_from_environment(environ), _variable)
    yield _Layer({name: value for name, value in overrides.items() if value is not None}, _flag)


def _aws_region(environ: Mapping[str, str]) -> dict[str, object]:
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
    return {"region": region} if region else {}


def _user_file(environ: Mapping[str, str]) -> Path | None:
    if environ.get("XDG_CONFIG_HOME"):
        return Path(environ["XDG_CONFIG_HOME"]) / "sweep" / "settings.toml"
    return Path(environ["HOME"]) / ".config" / "sweep" / "settings.toml" if environ.get("HOME") else None


def project_file(folder: Path) -> Path | None:
    """Return the settings file that is in force in a folder: its own, or the nearest above; None if there is none."""
    start = folder.resolve()
    files = (parent / PROJECT_FILE for parent in (start, *start.parents))
    return next((file for file in files if file.is_file()), None)


def _from_file(file: Path) -> dict[str, object]:
    try:
        values: dict[str, Any] = tomllib.loads(files.read(file).decode())
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"not TOML: {error}", where=str(file)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot be read: {error}", where=str(file)) from error
    unknown = next((name for name in values if name not in (*NAMES, _INFRA)), None)
    if unknown is not None:
        raise SettingsError(f"unknown setting {unknown!r}", where=str(file), hint=did_you_mean(unknown, list(NAMES)))
    if isinstance(values.get("database"), str):
        values["database"] = database_beside(file, values["database"])
    return values


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    known = {_variable(name): name for name in NAMES if name != _PLATFORMS}
    for variable in environ:
        if not variable.startswith(_PREFIX) or variable in known:
            continue
        # Others may use the prefix too, so only a near miss is worth a word.
        if near := get_close_matches(variable, known, 1, 0.85):
            logger.warning("%s is not a setting; did you mean %s?", variable, near[0])
    return {name: environ[variable] for variable, name in known.items() if environ.get(variable)}


def _check(name: str, value: object, origin: str, files: Mapping[str, str]) -> None:
    """Raise SettingsError, with the source that says it, for a setting that is unknown, or a value that cannot be."""
    if name not in NAMES:
        raise SettingsError(f"unknown setting {name!r}", hint=did_you_mean(name, list(NAMES)))
    if name == _PLATFORMS:
        tables = value if isinstance(value, dict) else {"": value}
        wrong = next((table for table, its in tables.items() if not isinstance(its, dict)), None)
        if wrong is not None:
            key, where = (f"{name}.{wrong}", files[wrong]) if wrong else (name, origin)
            raise SettingsError(f"{key} is no table", where=where, hint="write [platforms.NAME], and settings below it")
        return
    try:
        checked_value(name, value, optional=name in _OPTIONAL)
    except ValueError as error:
        raise SettingsError(f"{name}: {error}", where=origin) from error


def _variable(name: str) -> str:
    return _PREFIX + name.upper()


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
