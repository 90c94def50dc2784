"""Makes of a pod's container a process of this machine, with a name, an /opt/ml and volumes of its own.

A pod has an address of its own below 127. The names of the pods of one Service lead there, in a file that takes the
place of /etc/hosts. /opt/ml is a folder of the pod's; the folder of any other volume is put into the container's words
and variables instead of its path. Where this machine gives no namespaces, so is that of /opt/ml.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.machines.instance.address import free_port
from orchestrator.localcloud.machines.no_ssh import write_agent
from orchestrator.localcloud.machines.processes import SHARED_CORES, Command
from orchestrator.localcloud.machines.python_layer import make_layer
from orchestrator.localcloud.services.eks.kubernetes.pods.pods import host_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.localcloud.machines.own_mounts import OwnMounts

Body = dict[str, Any]

HOME = "/opt/ml"
_NAMES = str(Path(__file__).parents[4] / "machines" / "own_names.py")
_REFERENCE = re.compile(r"\$(\$|\(([A-Za-z_][A-Za-z0-9_.-]*)\))")
_FIELD = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]")
_OURS = "# pod"


@dataclass
class Group:
    """The pods that find each other by name: those of one Job."""

    folder: Path
    """The folder of their folders."""
    port: int = field(default_factory=free_port)
    """A free port of this machine, at which they meet: all of them are this machine."""


@dataclass(frozen=True)
class Sandbox:
    """The folders in which one pod runs."""

    group: Group
    base: Path
    """The folder that is its /opt/ml."""
    scratch: Path
    """The folder that is its /tmp."""
    claims: Path
    """The folder of the folders of the namespace's volumes that stay."""

    @property
    def log(self) -> Path:
        return self.base.with_suffix(".log")

    @property
    def hosts(self) -> Path:
        """The file that is its /etc/hosts."""
        return self.base.with_suffix(".hosts")

    def volume(self, volume: Body) -> Path:
        """Return the folder of a volume."""
        if claim := volume.get("persistentVolumeClaim"):
            return self.claims / str(claim["claimName"])
        return self.base.with_suffix(".volumes") / str(volume["name"])


def make_command(pod: Body, sandbox: Sandbox, environment: Mapping[str, str], mounts: OwnMounts) -> Command:
    """Return the process of a pod's one container, after its folders are made."""
    container = pod["spec"]["containers"][0]
    for folder in (sandbox.base, sandbox.scratch):
        folder.mkdir(parents=True, exist_ok=True)
    moved = _volumes(pod, container, sandbox)
    if mounts.refusal:
        moved[HOME] = str(sandbox.base)
    variables = {**_machine(pod, sandbox, environment, mounts), **_given(pod, container)}
    variables = {name: _move(value, moved) for name, value in variables.items()}
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    words = [_move(_expand(word, variables), moved) for word in words]
    within: list[str] = []
    if not mounts.refusal:
        within = mounts.command(sandbox.base, Path(_move(container.get("workingDir") or "/", moved)), ())
        within += [sys.executable, "-I", "-S", _NAMES, str(sandbox.hosts), host_of(pod)]
    return Command([*within, *words], variables, sandbox.base, sandbox.log)


def write_names(sandbox: Sandbox, pods: list[Body]) -> None:
    """Write down the names of a Job's pods for one of them. What it has added itself stays."""
    lines = [f"127.0.0.1 localhost {_OURS}"]
    for pod in pods:
        name, subdomain = host_of(pod), pod["spec"].get("subdomain", "")
        within = f"{name}.{subdomain}.{pod['metadata']['namespace']}.svc"
        names = [f"{name}.{subdomain}", within, f"{within}.cluster.local"] if subdomain else []
        lines.append(" ".join([pod["status"]["podIP"], *names, name, _OURS]))
    sandbox.hosts.parent.mkdir(parents=True, exist_ok=True)
    before = sandbox.hosts.read_text().splitlines() if sandbox.hosts.exists() else []
    added = [line for line in before if not line.endswith(_OURS)]
    # In its place: whoever has mounted the file sees what it says now.
    sandbox.hosts.write_text("\n".join([*lines, *added, ""]))


def lead_to(sandbox: Sandbox, pod: Body) -> None:
    """Let others of its Job find the process of a pod by the pod's address, as Open MPI's agent looks for it."""
    link = sandbox.group.folder / f"{pod['status']['podIP']}.pid"
    link.unlink(missing_ok=True)
    link.symlink_to(f"{sandbox.base}.pid")


def _machine(pod: Body, sandbox: Sandbox, environment: Mapping[str, str], mounts: OwnMounts) -> dict[str, str]:
    """Return the variables that let one machine play several: programs, a place to meet, folders of their own."""
    packages = sandbox.base.with_suffix(".packages")
    programs = os.pathsep.join((str(make_layer(packages)), environment["PATH"]))
    found = {**environment, "PATH": programs, "TMPDIR": str(sandbox.scratch), "HOSTNAME": host_of(pod), **SHARED_CORES}
    found["MASTER_PORT"] = str(sandbox.group.port)
    if (Path(sys.prefix) / "bin" / "mpirun").exists():
        found["OPAL_PREFIX"] = sys.prefix
    if mounts.refusal:
        return {**found, "SWEEP_BASE": str(sandbox.base), "SWEEP_HOSTS_FILE": ""}
    join = mounts.join(sandbox.group.folder).replace("$host", '$(getent hosts "$host" | cut -d" " -f1)')
    agent = write_agent(sandbox.scratch, join)
    return {**found, "OMPI_MCA_plm_rsh_agent": str(agent)}


def _given(pod: Body, container: Body) -> dict[str, str]:
    """Return the variables that the container's description has."""
    found: dict[str, str] = {}
    for each in container.get("env") or ():
        path = ((each.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath")
        text = _field(pod, path) if path else str(each.get("value") or "")
        found[each["name"]] = _expand(text, found)
    return found


def _field(pod: Body, path: str) -> str:
    if found := _FIELD.fullmatch(path):
        return str(pod["metadata"].get(found[1], {}).get(found[2], ""))
    value: Any = pod
    for name in path.split("."):
        value = value.get(name, "") if isinstance(value, dict) else ""
    return str(value)


def _expand(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with $(NAME) filled in; $$ is a dollar, and a name that nobody knows stays as it is."""
    return _REFERENCE.sub(lambda one: "$" if one[1] == "$" else variables.get(one[2], one[0]), text)


def _volumes(pod: Body, container: Body, sandbox: Sandbox) -> dict[str, str]:
    """Make the folders of a container's volumes; return what takes the place of their paths."""
    described = {each["name"]: each for each in pod["spec"].get("volumes") or ()}
    moved = {}
    for mount in container.get("volumeMounts") or ():
        path = mount["mountPath"].rstrip("/")
        if path.startswith(("/dev/", HOME)):
            continue  # memory to share is this machine's own, and /opt/ml a folder of the pod's in any case
        folder = sandbox.volume(described[mount["name"]]) / (mount.get("subPath") or "")
        folder.mkdir(parents=True, exist_ok=True)
        moved[path] = str(folder).rstrip("/")
    return moved


def _move(text: str, moved: Mapping[str, str]) -> str:
    for path, folder in moved.items():
        pattern = rf"(?<![\w./-]){re.escape(path)}(?![\w.-])"
        text = re.sub(pattern, folder.replace("\\", r"\\"), text)
    return text
