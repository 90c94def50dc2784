"""An instance's way through its states: it is launched, runs, is taken back, shut down, ends, and vanishes.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-lifecycle.html
"""

from __future__ import annotations

import logging
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from orchestrator.localcloud.services.ec2.instance import (
    BROKEN,
    SHUTDOWN_FROM_WITHIN,
    TAKEN_BACK,
)
from orchestrator.localcloud.services.ec2.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from orchestrator.localcloud.services.ec2.instance import Instance, Interface, Volume
    from orchestrator.localcloud.services.ec2.spot_requests import SpotRequest
    from orchestrator.localcloud.services.moto.ec2 import Ec2Store
    from orchestrator.localcloud.site import Site

log = logging.getLogger(__name__)

GRACE_S = 90.0
"""Seconds on the cloud's clock that processes have to end when an instance shuts down: systemd's own."""
NOTICE_S = 120.0
"""Seconds from a spot notice to the end."""
SHOWN_S = 3600.0
"""Seconds for which a terminated instance is still shown."""


class InstanceLifecycle:
    """Runs the instances of all Regions. `lock` guards it and all instances."""

    def __init__(self, site: Site, stores: Mapping[str, Ec2Store]) -> None:
        self.lock = threading.RLock()
        self.instances: dict[str, Instance] = {}
        """All instances that are shown, by their ids, the oldest first."""
        self.spot_requests: dict[str, SpotRequest] = {}
        self._site = site
        self._stores = stores
        self._machines: dict[str, Machine] = {}
        self._consoles: dict[str, bytes] = {}
        self._workers = ThreadPoolExecutor(max(2, os.cpu_count() or 1), thread_name_prefix="instance")

    def in_region(self, region: str) -> list[Instance]:
        """Return the instances of a Region, the oldest first."""
        with self.lock:
            return [each for each in self.instances.values() if each.region == region]

    def named(self, what: str) -> list[Instance]:
        """Return the instances of this id, spot request or tag `Name` that have not ended."""
        with self.lock:
            alive = [each for each in self.instances.values() if each.alive]
            return [
                each
                for each in alive
                if what in (each.id, each.spot_request) or self._stores[each.region].tags(each.id).get("Name") == what
            ]

    def launch(self, instances: Iterable[Instance]) -> None:
        """Take new instances, and have workers start them."""
        with self.lock:
            for instance in instances:
                self.instances[instance.id] = instance
                self._workers.submit(self._boot, instance)

    def console(self, instance: Instance) -> bytes:
        """Return the latest of what an instance's processes printed."""
        with self.lock:
            machine = self._machines.get(instance.id)
            return machine.console() if machine else self._consoles.get(instance.id, b"")

    # The end

    def shut_down(self, instance: Instance, reason: tuple[str, str], *, stop: bool = False) -> None:
        """End an instance, or stop it, unless that has begun: its processes are told, and killed after a grace."""
        with self.lock:
            if instance.state == "stopped" and not stop:
                instance.reason = reason
                self._end(instance, "terminated")
            if not instance.alive:
                return
            self._begin_end(instance, reason, "stopping" if stop else "shutting-down")
            machine = self._machines.get(instance.id)
            if machine and machine.runs:
                machine.shut_down()
                self._site.clock.after(GRACE_S, machine.kill)
            elif machine is None:  # else the worker that starts it sees that it is to end
                self._end(instance, "stopped" if stop else "terminated")

    def shut_down_from_within(self, instance: Instance) -> None:
        """Do what an instance's own `shutdown` does. A spot request that is for one time ends with it."""
        behavior = instance.reservation.request.get("InstanceInitiatedShutdownBehavior", "stop")
        stop = behavior == "stop" and not instance.reservation.spot
        self.shut_down(instance, SHUTDOWN_FROM_WITHIN, stop=stop)

    # Faults

    def take_back(self, instance: Instance, notice: float = NOTICE_S) -> bool:
        """Give notice to a spot instance, and end it then; return False when it is none, or has its notice."""
        with self.lock:
            if not instance.reservation.spot or not instance.alive or instance.notice is not None:
                return False
            instance.notice = self._site.clock.now() + notice
            instance.alarms.append(self._site.clock.after(notice, lambda: self.shut_down(instance, TAKEN_BACK)))
            return True

    def recommend_rebalance(self, instance: Instance) -> bool:
        """Tell a spot instance that it is likelier to be taken back; return False when it is none."""
        with self.lock:
            if instance.reservation.spot and instance.alive:
                instance.rebalance = self._site.clock.now()
                return True
            return False

    def crash(self, instance: Instance) -> bool:
        """Let an instance's host fail: it ends without a word; return False when it does not run."""
        with self.lock:
            machine = self._machines.get(instance.id)
            if instance.state != "running" or machine is None:
                return False
            self._begin_end(instance, BROKEN, "shutting-down")
            machine.kill()
            return True

    def kill(self, instance: Instance) -> bool:
        """Kill an instance's processes, as for want of memory; it stays. Return False when it does not run."""
        with self.lock:
            machine = self._machines.get(instance.id)
            if instance.state != "running" or machine is None:
                return False
            machine.kill_processes()
            return True

    # Steps

    def _boot(self, instance: Instance) -> None:
        """Start an instance. A worker calls this."""
        try:
            with self.lock:
                if not instance.alive:
                    return
                machine = Machine(
                    self._site,
                    instance,
                    self._stores[instance.region],
                    lambda: self.shut_down_from_within(instance),
                )
                self._machines[instance.id] = machine
            machine.prepare()
            with self.lock:
                if not instance.alive:
                    self._end(instance, "stopped" if instance.state == "stopping" else "terminated")
                    return
                instance.state = "running"
                instance.since = self._site.clock.now()
                machine.start(ended=lambda: self._hand_over(instance))
        except Exception:
            log.exception("instance %s broke", instance.id)
            with self.lock:
                self._begin_end(instance, BROKEN, "shutting-down")
                self._end(instance, "terminated")

    def _hand_over(self, instance: Instance) -> None:
        """Have a worker put away what has ended."""
        self._workers.submit(self._on_ended, instance)

    def _on_ended(self, instance: Instance) -> None:
        """Note that an instance's first process has ended: as it was told, or because something broke."""
        with self.lock:
            if instance.alive:
                self._begin_end(instance, BROKEN, "shutting-down")
            self._end(instance, "stopped" if instance.state == "stopping" else "terminated")

    def _begin_end(self, instance: Instance, reason: tuple[str, str], state: str) -> None:
        instance.state, instance.reason = state, reason
        instance.ended = self._site.clock.now()
        for alarm in instance.alarms:
            alarm.cancel()

    def _end(self, instance: Instance, state: str) -> None:
        """Put away what an instance had on this machine, and in its Region once it is terminated."""
        instance.state = state
        machine = self._machines.pop(instance.id, None)
        if machine:
            self._consoles[instance.id] = machine.console()
            machine.remove()
        if state != "terminated":
            return
        store = self._stores[instance.region]
        brought: list[Interface | Volume] = [*instance.volumes, *instance.interfaces]
        store.detach(each.id for each in brought if each.keep)
        store.remove(each.id for each in brought if not each.keep)
        self._site.clock.after(SHOWN_S, lambda: self._forget(instance))

    def _forget(self, instance: Instance) -> None:
        """Show a terminated instance no longer."""
        with self.lock:
            self.instances.pop(instance.id, None)
            self._consoles.pop(instance.id, None)
            self._stores[instance.region].remove([instance.id])
