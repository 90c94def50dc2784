"""`make toolkit` installs a system package only if whoever runs it agrees."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pexpect
import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

SCRIPT = Path(__file__).parents[1] / "containers" / "machine.sh"


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine whose root has apt-get and no sshd: apt-get notes what it is asked for."""
    programs = tmp_path / "bin"
    programs.mkdir()
    fakes = {
        "apt-get": f'echo "$@" >> {tmp_path}/asked',
        "id": "echo 0",
        **dict.fromkeys(("cc", "ip", "unshare", "which"), "true"),
    }
    for name, line in fakes.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    script = tmp_path / "machine.sh"
    script.write_text(SCRIPT.read_text().replace("/usr/sbin/sshd", f"{tmp_path}/sshd"))
    script.chmod(0o755)
    return {"PATH": f"{programs}:{os.environ['PATH']}", "SCRIPT": str(script), "ASKED": str(tmp_path / "asked")}


def asked(machine: Mapping[str, str]) -> str:
    path = Path(machine["ASKED"])
    return path.read_text() if path.exists() else ""


def run(machine: Mapping[str, str], **more: str) -> subprocess.CompletedProcess[str]:
    line = [machine["SCRIPT"], sys.executable]
    environ = {**machine, **more}
    return subprocess.run(line, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("answer", ["", "no", "n"])
def test_nothing_is_installed_where_nobody_can_be_asked_or_somebody_has_said_no(
    machine: dict[str, str], answer: str
) -> None:
    done = run(machine, SSHD=answer)
    assert (done.returncode, asked(machine)) == (0, "")
    assert "make toolkit SSHD=yes installs it" in done.stderr


def test_it_is_installed_for_who_has_said_yes_beforehand(machine: dict[str, str]) -> None:
    assert run(machine, SSHD="yes").returncode == 0
    assert asked(machine).splitlines()[-1] == "install -qq --no-install-recommends openssh-server"


@pytest.mark.parametrize(("typed", "installs"), [("y", True), ("", False), ("nope", False)])
def test_whoever_sits_at_a_terminal_is_asked(machine: dict[str, str], typed: str, installs: bool) -> None:
    terminal = pexpect.spawn(machine["SCRIPT"], [sys.executable], env=machine, encoding="utf-8", timeout=20)
    terminal.expect("Install openssh-server by apt-get")
    terminal.sendline(typed)
    terminal.expect(pexpect.EOF)
    assert bool(asked(machine)) is installs
