"""Runs the starter in a container on this machine, by its Docker: the training finds the image, and /opt/ml, as there.

It travels into the training: standard library only.
"""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from orchestrator.training.aws_call import Address, call_by_hand

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.training.credentials import Keyring

_NAME = "sweep-training"
_ECR = re.compile(r"(?P<registry>(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?)/")
_OF_THIS_MACHINE = (
    "PATH",
    "HOME",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "_",
    "HOSTNAME",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
)
"""Variables that mean something else in the container."""


class NoContainer(Exception):
    """The image cannot be had, or there is no Docker to run it."""


def pull(image: str, environ: Mapping[str, str], keyring: Keyring) -> None:
    """Bring the image to this machine. Raise NoContainer or CallFailed when it cannot be had."""
    if shutil.which("docker", path=environ.get("PATH")) is None:
        raise NoContainer("the machine has no docker: use an AMI that has it")
    private = _ECR.match(image)
    if private:
        address = Address("ecr", private["region"], "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken")
        answer = call_by_hand(address, {"registryIds": [private["account"]]}, environ, keyring)
        token = base64.b64decode(answer["authorizationData"][0]["authorizationToken"]).decode()
        user, _, password = token.partition(":")
        _docker(["login", "--username", user, "--password-stdin", private["registry"]], environ, password)
    _docker(["pull", "--quiet", image], environ)


def contained(line: list[str], image: str, folders: list[str], environ: Mapping[str, str]) -> list[str]:
    """Return the line that runs a line in a container, in which these folders are as they are here.

    Its variables come from whoever runs it, by their names: so none of their values is on the command line.
    """
    gpus = ["--gpus", "all"] if shutil.which("nvidia-smi", path=environ.get("PATH")) else []
    names = [name for name in sorted(environ) if name not in _OF_THIS_MACHINE]
    return [
        *("docker", "run", "--rm", "--name", _NAME, "--network", "host", "--ipc", "host", "--ulimit", "memlock=-1"),
        *gpus,
        *(word for folder in folders for word in ("--volume", f"{folder}:{folder}")),
        *(word for name in names for word in ("--env", name)),
        *("--entrypoint", line[0], image, *line[1:]),
    ]


def kill(environ: Mapping[str, str]) -> None:
    """End the container, if it still runs: it does not end with whoever has started it."""
    subprocess.run(["docker", "kill", _NAME], env=dict(environ), stderr=subprocess.DEVNULL, check=False)


def _docker(words: list[str], environ: Mapping[str, str], said: str = "") -> None:
    done = subprocess.run(
        ["docker", *words],
        env=dict(environ),
        input=said.encode(),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise NoContainer(f"docker {words[0]}: {done.stderr.decode(errors='replace').strip()[-300:]}")
