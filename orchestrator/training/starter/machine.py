"""One machine of a training, as SageMaker's container contract describes it: files below /opt/ml.

It travels into the training: standard library only.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

ORDER = "sweep_start"
"""The hyperparameter that says what is to be started, and how."""
CODE = "code"
"""The channel that the code comes in."""
HOME = "/opt/ml"
ENDED_BY = "output/ended-by"
"""The file that holds the error which the command has ended by: torchrun's own, not that of a rank."""
_BELOW_HOME = re.compile(rf"{HOME}(?![\w.-])")
_NOT_THE_SCRIPTS = ("sweep_", "sagemaker_")
"""Beginnings of the names of hyperparameters that are not for the script."""


@dataclass(frozen=True)
class Machine:
    """What a machine knows of its training: the other machines, the channels, the parameters, and the order."""

    base: Path
    """The folder that is /opt/ml; another one only where a container cannot have that."""
    host: str
    hosts: tuple[str, ...]
    """The names of all machines; the first is where processes meet."""
    interface: str
    """The network interface by which machines reach each other."""
    instance_type: str
    channels: tuple[str, ...]
    parameters: dict[str, Any]
    """What the script gets: the point, and the hyperparameters of the sweep."""
    order: dict[str, Any]

    @property
    def is_first(self) -> bool:
        """True for the machine that the others come to."""
        return self.host == self.hosts[0]

    @property
    def code(self) -> Path:
        """The folder of the training's code, in which it runs."""
        return self.base / "code"

    @property
    def folders(self) -> dict[str, str]:
        """The folders of the channels, by the names that a command has for them: `data`, `data:validation`."""
        data = {f"data:{name}": str(self.base / "input" / "data" / name) for name in self.channels}
        return {**data, "data": str(self.base / "input" / "data" / self.order.get("data", "training"))}

    def here(self, text: str) -> str:
        """Return a text with paths below /opt/ml as they are on this machine."""
        return moved(text, self.base)


def read_machine(base: Path) -> Machine:
    """Return what the files below a folder say. Raise OSError or ValueError when they are not there or no JSON."""
    config = base / "input" / "config"
    resources = json.loads((config / "resourceconfig.json").read_text())
    channels = config / "inputdataconfig.json"
    found = {name: decode(text) for name, text in json.loads((config / "hyperparameters.json").read_text()).items()}
    return Machine(
        base=base,
        host=resources["current_host"],
        hosts=tuple(resources["hosts"]),
        interface=resources.get("network_interface_name", "eth0"),
        instance_type=resources.get("current_instance_type", ""),
        channels=tuple(sorted(set(json.loads(channels.read_text())) - {CODE})) if channels.exists() else (),
        parameters={name: value for name, value in found.items() if not name.startswith(_NOT_THE_SCRIPTS)},
        order=found.get(ORDER, {}),
    )


def moved(text: str, base: Path) -> str:
    """Return a text with paths below /opt/ml as they are where another folder takes its place."""
    return text if str(base) == HOME else _BELOW_HOME.sub(str(base), text)


def hide_code(base: Path) -> None:
    """Take the code's channel out of the list of channels: scripts that read every channel take it for data.

    Raise OSError where the list cannot be written.
    """
    file = base / "input" / "config" / "inputdataconfig.json"
    channels = json.loads(file.read_text()) if file.exists() else {}
    if channels.pop(CODE, None) is not None:
        file.write_text(json.dumps(channels))


def encode(value: Any) -> str:
    """Return a value as a hyperparameter: text as it is, if it could be nothing else; all other values as JSON."""
    return value if isinstance(value, str) and decode(value) is value else json.dumps(value)


def decode(text: str) -> Any:
    """Return the value that a hyperparameter stands for: what its JSON says; the text itself when it is no JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def count_gpus() -> int:
    """Return the GPUs of this machine that NVIDIA's driver lists; 0 where there is no driver."""
    try:
        listed = subprocess.run(["nvidia-smi", "--list-gpus"], stdout=subprocess.PIPE, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    return len(listed.stdout.splitlines())
