"""One host of a training: a container, or a folder that stands for one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Host:
    """One host of a training: where its folders are, and what it knows of the other hosts."""

    base: Path
    """The folder on this machine that is the host's /opt/ml."""
    home: Path
    """The path at which the host's own processes see that folder: /opt/ml, where this machine can do that."""
    scratch: Path
    """The folder on this machine that is the host's /tmp."""
    resource_config: dict[str, Any]
    """The content of resourceconfig.json: the names of all hosts, and which of them this is."""
    channels: dict[str, dict[str, Any]]
    """The content of inputdataconfig.json."""
    hyperparameters: dict[str, str]
    """The hyperparameters as the request has them, the toolkit's own among them."""
    port: int
    """A free port of this machine, for hosts to meet at."""
    job: str
    """The training's name."""
    region: str
    streamed: frozenset[str] = frozenset()
    """The channels whose folders are mounted, and whose objects are read when a process reads them."""
    isolated: bool = False
    """True when no network call may leave the host, but to the other hosts of its training."""

    @property
    def name(self) -> str:
        """The host's own name, such as algo-1."""
        return str(self.resource_config["current_host"])

    @property
    def hosts(self) -> list[str]:
        """The names of all hosts of the training."""
        return list(self.resource_config["hosts"])

    @property
    def is_master(self) -> bool:
        """True for the host whose name comes first; it starts the ranks of MPI."""
        return self.name == self.hosts[0]

    @property
    def interface(self) -> str:
        """The network interface by which hosts reach each other."""
        return str(self.resource_config["network_interface_name"])

    @property
    def code(self) -> Path:
        """The folder that the training's code lies in."""
        return self.base / "code"

    @property
    def log(self) -> Path:
        """The file of all that the host prints. It lies outside its /opt/ml."""
        return self.base.with_suffix(".log")

    @property
    def packages(self) -> Path:
        """The folder that the packages are installed in which the code requires."""
        return self.base / "packages"

    def channel(self, name: str) -> Path:
        """Return the folder on this machine that is a channel's."""
        return self.base / "input" / "data" / name

    def local(self, value: Any) -> Any:
        """Return a path under /opt/ml as the host's own processes see it, and anything else as it is."""
        return _moved(value, self.home)

    def on_disk(self, value: str) -> Path:
        """Return where a path of the host's lies on this machine, for those who are no processes of the host."""
        return self.base / str(_moved(value, self.base))  # an absolute path replaces the base


def _moved(value: Any, folder: Path) -> Any:
    """Return a path under /opt/ml as one under a folder, and anything else as it is."""
    moved = isinstance(value, str) and (value == "/opt/ml" or value.startswith("/opt/ml/"))
    return str(folder) + value[len("/opt/ml") :] if moved else value
