"""An instance as a process: its folder, its metadata service, its timers, from launch until it is gone."""

from __future__ import annotations

import json
import signal
import threading
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.machines.instance.folder import KILL_ALL, SHUT_DOWN, START_UNITS, Folder
from orchestrator.localcloud.services.ec2.calls.request_checks import user_data
from orchestrator.localcloud.services.ec2.metadata.credentials import Credentials
from orchestrator.localcloud.services.ec2.metadata.service import MetadataService, Told
from orchestrator.localcloud.services.ec2.metadata.tree import look_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.clock import Alarm
    from orchestrator.localcloud.services.ec2.instance import Instance
    from orchestrator.localcloud.services.moto.ec2 import Ec2Store
    from orchestrator.localcloud.site import Site

CONSOLE_BYTES = 65_536
"""The bytes of console output that EC2 keeps: the latest."""
_SHUTDOWN = "shutdown"


class Machine:
    """One instance on this machine. Call `prepare`, then `start`, and `remove` once it has ended."""

    def __init__(self, site: Site, instance: Instance, store: Ec2Store, shut_down: Callable[[], None]) -> None:
        """`shut_down` is called when the instance shuts itself down."""
        self._site = site
        self._instance = instance
        self._shut_down = shut_down
        self._folder = Folder(
            site.work / "instance" / instance.region / instance.id,
            site.scratch / instance.id[-8:],
            site.starter.mounts,
            instance.address,
            instance.reservation.port,
        )
        credentials = Credentials(site, instance)
        told = Told(
            options=instance.reservation.metadata,
            look_up=lambda path: look_up(path, instance, store.tags(instance.id), credentials),
            power=self._power,
            now=site.clock.now,
        )
        self._metadata = MetadataService(instance.address, told)
        self._process: str | None = None
        self._timers: dict[str, Alarm] = {}
        self._units = 0
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Lay out the instance's folder."""
        self._folder.fill(user_data(self._instance.reservation.request), self._metadata.url)

    def start(self, ended: Callable[[], None]) -> None:
        """Start the first process; `ended` is called when it has ended, and everything with it."""
        command = self._folder.command(self._site.environment, self._metadata.url)
        self._process = self._site.processes.start(command, started=lambda: None, ended=lambda _: ended())

    @property
    def runs(self) -> bool:
        """True once it has a process."""
        return self._process is not None

    def shut_down(self) -> None:
        """Tell all processes to end."""
        self._signal(SHUT_DOWN)

    def kill(self) -> None:
        """End the first process, and with it everything, at once."""
        self._signal(signal.SIGKILL)

    def kill_processes(self) -> None:
        """Kill what runs on the instance, as for want of memory; the instance stays."""
        self._signal(KILL_ALL)

    def console(self) -> bytes:
        """Return the latest of all that its processes printed."""
        file = self._folder.console
        return file.read_bytes()[-CONSOLE_BYTES:] if file.exists() else b""

    def remove(self) -> None:
        """Close the metadata service, forget all timers, and remove the folder."""
        self._metadata.close()
        with self._lock:
            for alarm in self._timers.values():
                alarm.cancel()
        self._folder.remove()

    def _signal(self, number: int) -> None:
        if self._process:
            self._site.processes.signal(self._process, number)

    # What `shutdown` and `systemd-run` ask for

    def _power(self, order: dict[str, Any]) -> str:
        """Do what one of the instance's programs was called for, and return what it prints."""
        action, after = order["do"], float(order.get("after", 0))
        if action == "halt":
            self.kill_processes()
        elif action == "shutdown":
            self._at(_SHUTDOWN, after, self._shut_down)
            return f"Shutdown scheduled in {after:.0f} s, use 'shutdown -c' to cancel.\n" if after else ""
        elif action in ("cancel", "stop"):
            self._cancel(order.get("unit", _SHUTDOWN))
        elif action == "run":
            return self._run(order["unit"], after, order["command"])
        return ""

    def _run(self, unit: str, after: float, command: list[str]) -> str:
        with self._lock:
            self._units += 1
            number = self._units
        name = unit or f"run-{number}"
        self._at(name, after, lambda: self._start_unit(number, command))
        timer = f"Running timer as unit: {name}.timer\nWill run service" if after else "Running"
        return f"{timer} as unit: {name}.service\n"

    def _start_unit(self, number: int, command: list[str]) -> None:
        self._folder.add_unit(number, json.dumps({"command": command}))
        self._signal(START_UNITS)

    def _at(self, name: str, after: float, action: Callable[[], None]) -> None:
        """Do something later on the cloud's clock. It takes the place of what was to happen under that name."""
        self._cancel(name)
        with self._lock:
            self._timers[name] = self._site.clock.after(after, action)

    def _cancel(self, name: str) -> None:
        with self._lock:
            if alarm := self._timers.pop(name, None):
                alarm.cancel()
