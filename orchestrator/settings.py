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
from difflib import get_close_matches
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator

from orchestrator import files
from orchestrator.errors import SettingsError, did_you_mean
from orchestrator.infra_settings import InfraSettings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_PREFIX = "SWEEP_"
_PROJECT_FILE = "sweep.toml"
_SQLITE = "sqlite:///"
_PLATFORMS = "platforms"
_INFRA = "infra"
_LANE_FACTS = ("region", "instance_type", "purchase")

logger = logging.getLogger(__name__)


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as containers have
        return "unknown"


class Settings(BaseModel):
    """The settings that are in force. Unknown ones are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    database: str = Field(default="sqlite:///sweep.db", description="sqlite:///FILE or postgresql://…")
    campaign_database: str | None = Field(
        default=None, description="SQLAlchemy URL of a team's own campaign database: `sweep catalog import` reads it"
    )
    campaign_query: str | None = Field(
        default=None, description="file of the query whose rows are the campaigns, datasets and replicas there"
    )
    profile: str | None = Field(default=None, description="AWS profile; none is boto3's own choice")
    region: str = Field(default="us-east-1", description="control Region: AWS Batch and the control bucket")
    bucket: str | None = Field(default=None, description="control bucket")
    region_bucket: str | None = Field(
        default=None, description="the bucket of each Region, for sources and outputs; contains {region}"
    )
    role: str | None = Field(default=None, description="ARN of the role that trainings run under")
    job_role: str | None = Field(default=None, description="ARN of the role that launchers run under")
    execution_role: str | None = Field(default=None, description="ARN of the role that starts launchers' containers")
    queue: str = Field(default="sweep", description="AWS Batch job queue")
    lane_queue: str | None = Field(
        default=None,
        description="queue of tasks that wait for a lane's slots, with {region}, {instance_type} or {purchase} in it; "
        "without it they go to `queue`, where one lane holds up the others",
    )
    launcher_image: str | None = Field(default=None, description="container image of the launcher")
    launcher_platforms: tuple[str, ...] = Field(
        default=(), description="platforms of other packages that the launcher's image has; in the environment, a,b"
    )
    log_group: str = Field(default="/aws/batch/job", description="where launchers log")
    owner: str = Field(default_factory=_login_name, description="tag of everything started")
    poll_s: float = Field(default=30.0, gt=0, description="launchers look at their training no more often than this")
    platforms: dict[str, dict[str, Any]] = Field(
        default={},
        description="a table for each platform, such as [platforms.sagemaker]: the platform says what is in it",
    )
    infra: InfraSettings = Field(
        default=InfraSettings(), description="the table [infra]: what `sweep infra` need not make, and how large"
    )
    _files: dict[str, str] = PrivateAttr(default={})
    """The file that each platform's table stands in."""

    @field_validator("region_bucket")
    @classmethod
    def _names_the_region(cls, pattern: str | None) -> str | None:
        if pattern is not None and "{region}" not in pattern:
            raise ValueError("must contain {region}, as in my-sweeps-{region}")
        return pattern

    @field_validator("launcher_platforms", mode="before")
    @classmethod
    def _split_names(cls, names: object) -> object:
        return tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names

    @field_validator("lane_queue")
    @classmethod
    def _names_facts_of_a_lane(cls, pattern: str | None) -> str | None:
        try:
            names = {name for _, name, *_ in Formatter().parse(pattern or "") if name is not None}
        except ValueError as error:
            raise ValueError(f"cannot be read: {error}") from error
        unknown = names - set(_LANE_FACTS)
        if unknown:
            known = ", ".join(f"{{{name}}}" for name in _LANE_FACTS)
            raise ValueError(f"may contain {known}, and no {{{min(unknown)}}}")
        return pattern

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
            raise SettingsError(
                f"{' and '.join(missing)} {verb} not set",
                hint=f"export {variables}, or write {lines} in {_PROJECT_FILE}",
            )


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
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise _explained(error, origins, files) from error
    settings._files.update(files)
    return settings


class _Layer(NamedTuple):
    """What one source says."""

    values: dict[str, object]
    origin: Callable[[str], str]
    """Names the source of a setting, as an error should call it."""


def _layers(overrides: Mapping[str, object], folder: Path, environ: Mapping[str, str]) -> Iterator[_Layer]:
    """Yield what each source says, the weakest first."""
    yield _Layer(_aws_region(environ), lambda _: "AWS_REGION")
    for file in (_user_file(environ), _project_file(folder)):
        if file is not None and file.is_file():
            yield _file_layer(file)
    yield _Layer(_from_environment(environ), _variable)
    yield _Layer({name: value for name, value in overrides.items() if value is not None}, _flag)


def _aws_region(environ: Mapping[str, str]) -> dict[str, object]:
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
    return {"region": region} if region else {}


def _user_file(environ: Mapping[str, str]) -> Path | None:
    if environ.get("XDG_CONFIG_HOME"):
        return Path(environ["XDG_CONFIG_HOME"]) / "sweep" / "settings.toml"
    return Path(environ["HOME"]) / ".config" / "sweep" / "settings.toml" if environ.get("HOME") else None


def _project_file(folder: Path) -> Path | None:
    start = folder.resolve()
    files = (parent / _PROJECT_FILE for parent in (start, *start.parents))
    return next((file for file in files if file.is_file()), None)


def _file_layer(file: Path) -> _Layer:
    return _Layer(_from_file(file), lambda _: str(file))


def _from_file(file: Path) -> dict[str, object]:
    try:
        values: dict[str, Any] = tomllib.loads(files.read(file).decode())
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"not TOML: {error}", where=str(file)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot be read: {error}", where=str(file)) from error
    unknown = next((name for name in values if name not in Settings.model_fields), None)
    if unknown is not None:
        raise SettingsError(
            f"unknown setting {unknown!r}", where=str(file), hint=did_you_mean(unknown, list(Settings.model_fields))
        )
    if isinstance(values.get("database"), str):
        values["database"] = _beside(file, values["database"])
    return values


def _beside(file: Path, url: str) -> str:
    """Return the URL, for a relative SQLite file beside the settings that name it, wherever sweep is called."""
    name = url.removeprefix(_SQLITE)
    is_relative = url.startswith(_SQLITE) and name not in ("", ":memory:") and not Path(name).is_absolute()
    return f"{_SQLITE}{file.parent.resolve() / name}" if is_relative else url


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    known = {_variable(name): name for name in Settings.model_fields if name not in (_PLATFORMS, _INFRA)}
    for variable in environ:
        if not variable.startswith(_PREFIX) or variable in known:
            continue
        # Others may use the prefix too, so only a near miss is worth a word.
        if near := get_close_matches(variable, known, 1, 0.85):
            logger.warning("%s is not a setting; did you mean %s?", variable, near[0])
    return {name: environ[variable] for variable, name in known.items() if environ.get(variable)}


def _explained(error: ValidationError, origins: Mapping[str, str], files: Mapping[str, str]) -> SettingsError:
    problem = error.errors()[0]
    name, *rest = map(str, problem["loc"])
    where = origins.get(name, "")
    if problem["type"] == "extra_forbidden" and rest:
        hint = did_you_mean(rest[0], list(InfraSettings.model_fields))
        return SettingsError(f"unknown setting {rest[0]!r} in [{name}]", where=where, hint=hint)
    if problem["type"] == "extra_forbidden":
        return SettingsError(f"unknown setting {name!r}", hint=did_you_mean(name, list(Settings.model_fields)))
    if name == _PLATFORMS:
        path, where = ".".join([name, *rest]), files.get(rest[0], "") if rest else where
        return SettingsError(
            f"{path} is no table", where=where, hint=f"write [{_PLATFORMS}.NAME], and settings below it"
        )
    message = problem["msg"].removeprefix("Value error, ")
    return SettingsError(f"{'.'.join([name, *rest])}: {message[:1].lower()}{message[1:]}", where=where)


def _variable(name: str) -> str:
    return _PREFIX + name.upper()


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
