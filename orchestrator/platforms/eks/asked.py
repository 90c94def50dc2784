"""`platforms.eks` of a sweep file, over that of the settings: what only EKS can honour."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from orchestrator.errors import SettingsError
from orchestrator.platforms.base import Complaint
from orchestrator.platforms.eks.kube.nodes import SPOT_LABELS, TYPE
from orchestrator.spec.by_region import by_region, in_region
from orchestrator.spec.model import Model, shown, wrong
from orchestrator.spec.reading.mistakes import find_mistakes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.spec.sweep import Sweep

KEY = "eks"
"""The name of this platform, in lanes and in the sweep file."""
_CLUSTER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL_KEY = re.compile(rf"({_NAME.pattern}(\.{_NAME.pattern})*/)?[A-Za-z0-9]([-\w.]{{0,61}}[A-Za-z0-9])?", re.ASCII)
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?", re.ASCII)
_OF_LANES = {
    TYPE: "instance_types",
    "beta.kubernetes.io/instance-type": "instance_types",
    **{key: "purchases" for key, _ in SPOT_LABELS},
    "topology.kubernetes.io/region": "regions",
    "failure-domain.beta.kubernetes.io/region": "regions",
}
"""The labels of nodes that a lane stands for, and where a sweep says them: two words on one could contradict."""
_OURS = ("/dev/shm", "/opt/ml")
_SHARED_MEMORY = "shm"
"""The volume that each pod has of ours."""


def _cluster(text: str) -> str:
    if not _CLUSTER.fullmatch(text.replace("{region}", "r")):
        raise wrong(f"not a cluster's name: {shown(text)}", hint="letters, digits, - and _; or {region} in it")
    return text


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise wrong(f"not a name in Kubernetes: {shown(text)}", hint="small letters, digits and -, at most 63")
    return text


def _path(text: str) -> str:
    if not re.fullmatch(r"(/[\w.-]+)+", text):
        raise wrong(f"not a path: {shown(text)}", hint="such as /fsx")
    if any(text == ours or text.startswith(f"{ours}/") for ours in _OURS):
        raise wrong(f"{text} is taken by the training itself", hint="mount it elsewhere, such as at /fsx")
    return text


def _label_key(text: str) -> str:
    if not _LABEL_KEY.fullmatch(text):
        raise wrong(f"not the key of a label: {shown(text)}", hint="such as topology.kubernetes.io/zone")
    return text


def _not_of_the_lane(key: str) -> str:
    if key in _OF_LANES:
        raise wrong(
            f"the lane says what {key} is", hint=f"name it under where.{_OF_LANES[key]} of the sweep file instead"
        )
    return key


def _label_value(text: str) -> str:
    if not _LABEL_VALUE.fullmatch(text):
        raise wrong(f"not the value of a label: {shown(text)}", hint="letters, digits, -, _ and ., at most 63")
    return text


Name = Annotated[str, AfterValidator(_name)]
LabelKey = Annotated[str, AfterValidator(_label_key)]
SelectorKey = Annotated[LabelKey, AfterValidator(_not_of_the_lane)]
LabelValue = Annotated[str, AfterValidator(_label_value)]


class Toleration(Model):
    """A taint of nodes that pods do not mind, in the words of Kubernetes."""

    key: LabelKey | None = Field(default=None, description="of the taint; without one, of all")
    operator: Literal["Exists", "Equal"] = Field(default="Exists", description="Equal compares the value too")
    value: LabelValue | None = Field(default=None, description="of the taint, for Equal")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = Field(
        default=None, description="of the taint; without one, any"
    )

    @model_validator(mode="after")
    def _fits(self) -> Toleration:
        if self.operator == "Exists" and self.value:
            hint = "write `operator: Equal` too, or leave `value` out"
            raise wrong("Exists compares no value", hint=hint, at=("value",))
        if self.operator == "Equal" and not self.key:
            raise wrong("Equal compares the value of one taint", hint="write its `key` too", at=("operator",))
        return self


class Volume(Model):
    """A volume that is there already: of FSx for Lustre, EFS, or whatever the cluster has."""

    claim: Name = Field(description="the PersistentVolumeClaim in the namespace")
    path: Annotated[str, AfterValidator(_path)] = Field(description="where the training finds it, such as /fsx")
    read_only: bool = Field(default=False, description="whether the training may only read")


class Elastic(Model):
    """The pods of a training that may come and go while it runs."""

    min: int = Field(ge=1, le=10_000, description="so many are enough to train")
    max: int = Field(ge=2, le=10_000, description="so many there are at most: there are to be train.instances")

    @model_validator(mode="after")
    def _in_order(self) -> Elastic:
        if self.min > self.max:
            raise wrong(f"{self.min} pods at least are more than {self.max} at most", at=("min",))
        return self


class Asked(Model):
    """What a sweep, or the settings, ask of EKS alone."""

    namespace: Name | None = Field(default=None, description="of the Jobs; `sweep` unless said")
    service_account: Name | None = Field(
        default=None, description="of the pods, with a role of AWS's; `sweep-training` unless said"
    )
    queue: Name | None = Field(default=None, description="Kueue's LocalQueue that Jobs wait in")
    node_selector: dict[SelectorKey, LabelValue] | None = Field(default=None, description="labels that nodes must have")
    tolerations: list[Toleration] | None = Field(
        default=None, description="taints of nodes to pass over; that of GPUs always is"
    )
    volumes: dict[Name, Volume] | None = Field(default=None, description="name → a claim, and where it is mounted")
    shm_gb: int | None = Field(default=None, ge=1, le=4096, description="the most of /dev/shm; all memory unless said")
    elastic: Elastic | None = Field(
        default=None,
        description="a lost pod comes back, and costs a restart, not the attempt; with torchrun only",
    )
    efa: int | None = Field(default=None, ge=0, le=64, description="interfaces for EFA of each instance; 0 unless said")

    @model_validator(mode="after")
    def _mounted_apart(self) -> Asked:
        taken: dict[str, str] = {}
        for name, volume in (self.volumes or {}).items():
            if name == _SHARED_MEMORY:
                message = f"a volume of ours is called {name}"
                raise wrong(message, hint="give this one another name", at=("volumes", name))
            if (other := taken.setdefault(volume.path, name)) != name:
                message = f"{volume.path} is where {other} is mounted"
                raise wrong(message, hint="mount it elsewhere", at=("volumes", name, "path"))
        return self


class Settings(Asked):
    """What may stand in `[platforms.eks]` of the settings."""

    cluster: Annotated[str | dict[str, str], by_region(_cluster)] = Field(
        default={}, description="the cluster of each Region: a name, with {region} in it if need be, or one for each"
    )

    access: Literal["made", "given"] = Field(
        default="made",
        description="who lets launchers into the cluster and gives pods the role of trainings: `made`, "
        "`sweep infra deploy` does; `given`, the team does",
    )

    def cluster_in(self, region: str) -> str:
        """Return the cluster of a Region; nothing where there is none."""
        return in_region(self.cluster, region)


def read_settings(settings: Mapping[str, object]) -> Settings:
    """Return what the settings say. Raise SettingsError for what cannot be in them."""
    for mistake in find_mistakes(Settings, settings, ()):
        at = ".".join(("platforms", KEY, *map(str, mistake.at)))
        raise SettingsError(mistake.message, where=at, hint=mistake.hint)
    return Settings.model_validate(settings)


def read_asked(sweep: Sweep, usual: Settings) -> Asked:
    """Return what a sweep asks of EKS, over what is usual. It has been checked when the file was read."""
    said = Asked.model_validate(sweep.platforms.get(KEY, {}))
    own = {name: getattr(said, name) for name in said.model_fields_set if getattr(said, name) is not None}
    usually = {name: getattr(usual, name) for name in Asked.model_fields if name not in own}
    return Asked.model_validate({**usually, **own})


def check_asked(sweep: Sweep, usual: Settings) -> Iterator[Complaint]:
    """Yield a complaint for each thing that is wrong under `platforms.eks`."""
    mistakes = find_mistakes(Asked, sweep.platforms.get(KEY, {}), ("platforms", KEY))
    for mistake in mistakes:
        yield Complaint(mistake.message, mistake.hint, mistake.at)
    asked = None if mistakes else read_asked(sweep, usual).elastic
    if asked is None:
        return
    at = ("platforms", KEY, "elastic")
    if sweep.train.parallel != "torchrun":
        message = f"{sweep.train.parallel} cannot go on with other processes"
        yield Complaint(message, "set train.parallel to torchrun, or leave the line out", at)
    few, most = min(sweep.train.instance_counts), max(sweep.train.instance_counts)
    if few < asked.min:
        message = f"there are to be {asked.min} pods at least, and {few} instances are planned for"
        yield Complaint(message, f"write `min: {few}`, or more `instances` under train", (*at, "min"))
    if most > asked.max:
        message = f"there are to be {asked.max} pods at most, and {most} instances are planned for"
        yield Complaint(message, f"write `instances: {asked.max}` under train", (*at, "max"))
