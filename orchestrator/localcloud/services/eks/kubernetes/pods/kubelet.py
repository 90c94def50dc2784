"""Runs the pods of one cluster: finds a node, starts a process, tells how it stands, and ends it when it has to go."""

from __future__ import annotations

import itertools
import logging
import os
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.iam.service_roles import CannotTakeOn
from orchestrator.localcloud.services.eks.kubernetes.nodes.node_groups import NodeGroups
from orchestrator.localcloud.services.eks.kubernetes.nodes.nodes import ZONE
from orchestrator.localcloud.services.eks.kubernetes.nodes.scheduler import find_node
from orchestrator.localcloud.services.eks.kubernetes.pods import pods
from orchestrator.localcloud.services.eks.kubernetes.pods.containers import (
    Group,
    Sandbox,
    lead_to,
    make_command,
    write_names,
)
from orchestrator.localcloud.services.eks.kubernetes.resources import CLAIMS, NODES, PODS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.localcloud.machines.processes import Ending
    from orchestrator.localcloud.services.eks.kubernetes.pods.images import Images
    from orchestrator.localcloud.services.eks.kubernetes.store import Store
    from orchestrator.localcloud.site import Site

log = logging.getLogger(__name__)

Body = dict[str, Any]

_OUT_OF_MEMORY = 137


class Kubelet:
    """The kubelets of all nodes, and the scheduler. Its methods are called by whoever holds the store's lock."""

    def __init__(self, site: Site, region: str, store: Store, images: Images) -> None:
        self._site = site
        self._region = region
        self._store = store
        self.groups = NodeGroups(store, region, site.clock)
        self.groups.is_short = lambda node: any(short(node) for short in self._short_of)
        self.groups.joined = self.look
        self._images = images
        self._folder = site.work / "pods" / region
        self._scratch = site.scratch / f"eks-{region}"
        self._groups: dict[str, Group] = {}
        self._processes: dict[str, str] = {}
        self._killed_for: dict[str, str] = {}
        """Why pods are killed, by their uid."""
        self._addresses = itertools.count(2)
        self._short_of: list[Callable[[Body], bool]] = []
        self._workers = ThreadPoolExecutor(max(2, os.cpu_count() or 1), thread_name_prefix="pod")
        self.changed: Callable[[Body], None] = lambda _: None
        """Called after a pod has begun, or ended."""
        self.keys_of: Callable[[str, str, Path], dict[str, str]] = lambda *_: {}
        """Returns the variables that give the pods of a service account keys; a token goes into the file."""

    # Where pods run

    def take(self, pod: Body) -> None:
        """Take a new pod: it runs as soon as there is a node for it."""
        pods.waiting(pod, "ContainerCreating")
        self._place(pod)

    def look(self) -> None:
        """Place the pods that wait for a node."""
        for pod in self._store.all(PODS):
            if not pod["spec"].get("nodeName") and not pods.has_ended(pod) and not pods.is_going(pod):
                self._place(pod)

    def add_shortage(self, concerns: Callable[[Body], bool]) -> Callable[[], None]:
        """Let nothing new begin on some nodes; return a call that ends it."""
        with self._store.lock:
            self._short_of.append(concerns)

        def end() -> None:
            with self._store.lock:
                if concerns in self._short_of:
                    self._short_of.remove(concerns)
                self.look()

        return end

    def _place(self, pod: Body) -> None:
        node, why_not = self._find(pod)
        if node is None:
            now = self._store.now()
            pod["status"].pop("containerStatuses", None)
            pods.set_condition(pod, "PodScheduled", False, now, "Unschedulable", why_not)
            self._store.tell(PODS, pod, "Warning", "FailedScheduling", why_not)
            self._store.touch(pod)
            self.groups.make_room(pod)
            return
        number = next(self._addresses)
        pod["spec"]["nodeName"] = node["metadata"]["name"]
        # As servers of Kubernetes 1.35 do: github.com/kubernetes/enhancements, KEP 4742.
        pod["metadata"]["labels"] |= {ZONE: node["metadata"]["labels"][ZONE]}
        pod["status"]["podIP"] = f"127.{1 + number // 65025 % 250}.{number // 255 % 255}.{number % 254 + 1}"
        pods.set_condition(pod, "PodScheduled", True, self._store.now())
        pods.waiting(pod, "ContainerCreating")
        self._store.touch(pod)
        self._store.tell(PODS, pod, "Normal", "Scheduled", f"Successfully assigned {pod['metadata']['name']}")
        self._workers.submit(self._start, pod)

    def _find(self, pod: Body) -> tuple[Body | None, str]:
        for volume in pod["spec"].get("volumes") or ():
            claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
            if claim and self._store.find(CLAIMS, pod["metadata"]["namespace"], claim) is None:
                return None, f'persistentvolumeclaim "{claim}" not found.'
        there = [node for node in self._store.all(NODES) if not self.groups.is_short(node)]
        return find_node(pod, there, self._store.all(PODS))

    # How they begin and end

    def _start(self, pod: Body) -> None:
        """Make a pod's folders and start its process. A worker calls this."""
        try:
            with self._store.lock:
                if pods.is_going(pod) or pods.has_ended(pod):
                    return
                if problem := self._images.why_not(pod["spec"]["containers"][0]["image"]):
                    pods.waiting(pod, "ImagePullBackOff", problem)
                    self._store.tell(PODS, pod, "Warning", "Failed", problem)
                    self._store.touch(pod)
                    return
                sandbox = self._sandbox(pod)
                self._tell_names(pod)
                lead_to(sandbox, pod)
            environment = {**self._site.environment, "AWS_REGION": self._region, "AWS_DEFAULT_REGION": self._region}
            command = make_command(pod, sandbox, {**environment, **self._keys(pod)}, self._site.starter.mounts)
            with self._store.lock:
                if pods.is_going(pod) or pods.has_ended(pod):
                    return
                uid = pod["metadata"]["uid"]
                self._processes[uid] = self._site.processes.start(
                    command, started=lambda: None, ended=lambda ending: self._on_ended(pod, ending)
                )
                pods.running(pod, self._store)
                self._store.tell(PODS, pod, "Normal", "Started", "Started container")
                self.changed(pod)
        except CannotTakeOn as problem:
            self._refuse(pod, str(problem))
        except Exception as error:
            log.exception("pod %s broke", pod["metadata"]["name"])
            self._refuse(pod, repr(error))

    def _refuse(self, pod: Body, why: str) -> None:
        with self._store.lock:
            pods.waiting(pod, "CreateContainerError", why)
            self._store.touch(pod)
            self._store.tell(PODS, pod, "Warning", "Failed", f"Error: {why}")

    def _on_ended(self, pod: Body, ending: Ending) -> None:
        """Show how a pod has ended. The thread of all processes calls this."""
        with self._store.lock:
            uid = pod["metadata"]["uid"]
            self._processes.pop(uid, None)
            if pods.has_ended(pod):
                return
            reason = self._killed_for.pop(uid, "")
            if reason == "OOMKilled":
                pods.ended(pod, self._store, _OUT_OF_MEMORY, reason)
            elif ending.code is None:
                pods.ended(pod, self._store, 128, "StartError", f"failed to create containerd task: {ending.refusal}")
            else:
                pods.ended(pod, self._store, ending.code, "Error" if ending.code else "Completed")
            self._has_ended(pod)

    def _has_ended(self, pod: Body) -> None:
        self.changed(pod)
        if pods.is_going(pod):
            self._remove(pod)
        self.look()

    def _remove(self, pod: Body) -> None:
        self._store.remove(PODS, pod)
        sandbox = self._sandbox(pod)
        shutil.rmtree(sandbox.base.parent, ignore_errors=True)
        shutil.rmtree(sandbox.scratch, ignore_errors=True)
        owner = pod["metadata"]["labels"].get(pods.JOB_UID)
        if not any(each["metadata"]["labels"].get(pods.JOB_UID) == owner for each in self._store.all(PODS)):
            shutil.rmtree(sandbox.group.folder, ignore_errors=True)

    # How they are ended

    def delete(self, pod: Body, grace_s: float | None = None) -> None:
        """End a pod, and forget it then: by SIGTERM, and by SIGKILL after its grace."""
        if grace_s is None:
            grace_s = pod["spec"].get("terminationGracePeriodSeconds", pods.GRACE_S)
        first = not pods.is_going(pod)
        pod["metadata"] |= {"deletionTimestamp": self._store.now(), "deletionGracePeriodSeconds": grace_s}
        self._store.touch(pod)
        process = self._processes.get(pod["metadata"]["uid"])
        if process is None:
            if not pods.has_ended(pod):
                pods.ended(pod, self._store, _OUT_OF_MEMORY, "Error", "it was deleted before it began")
                self.changed(pod)
            self._remove(pod)
            self.look()
            return
        if first:
            self._signal(pod, signal.SIGTERM if grace_s else signal.SIGKILL)
            self._site.clock.after(grace_s, lambda: self._kill_late(pod))

    def _kill_late(self, pod: Body) -> None:
        with self._store.lock:
            self._signal(pod, signal.SIGKILL)

    def kill_for_memory(self, pod: Body) -> None:
        """Kill a pod as if it had taken more memory than it may."""
        self._killed_for[pod["metadata"]["uid"]] = "OOMKilled"
        self._signal(pod, signal.SIGKILL)

    def evict(self, pod: Body, reason: str, message: str) -> None:
        """End a pod that has to leave its node, with the grace that it asks for."""
        pods.set_condition(pod, pods.DISRUPTED, True, self._store.now(), reason, message)
        self._store.touch(pod)
        self.delete(pod)

    def push_out(self, pod: Body) -> None:
        """End a pod because its node is short of memory: its object stays, as Failed."""
        message = "The node was low on resource: memory."
        pods.set_condition(pod, pods.DISRUPTED, True, self._store.now(), "TerminationByKubelet", message)
        pod["status"] |= {"reason": "Evicted", "message": message}
        pods.ended(pod, self._store, _OUT_OF_MEMORY, "Error")
        self._store.tell(PODS, pod, "Warning", "Evicted", message)
        self._signal(pod, signal.SIGKILL)
        self._has_ended(pod)

    def lose(self, node: Body) -> None:
        """Let a node be gone at once, with all that runs there; a new one of its group joins."""
        self.groups.replace(node)
        for pod in self._on(node):
            message = "PodGC: node no longer exists"
            pods.set_condition(pod, pods.DISRUPTED, True, self._store.now(), "DeletionByPodGC", message)
            self._signal(pod, signal.SIGKILL)
            if not pods.has_ended(pod):
                pods.ended(pod, self._store, _OUT_OF_MEMORY, "Error")
            pod["metadata"]["deletionTimestamp"] = self._store.now()
            self._store.touch(pod)
            self._has_ended(pod)
        self.look()

    def drain(self, node: Body) -> None:
        """Take a spot node away: its pods have until their grace is over; a new one of its group joins."""
        node["spec"]["unschedulable"] = True
        self._store.touch(node)
        self.groups.replace(node)
        for pod in self._on(node):
            self.evict(pod, "EvictionByEvictionAPI", "Eviction API: evicting")
        self.look()

    def _on(self, node: Body) -> list[Body]:
        name = node["metadata"]["name"]
        return [pod for pod in self._store.all(PODS) if pod["spec"].get("nodeName") == name and not pods.has_ended(pod)]

    def _signal(self, pod: Body, number: int) -> None:
        if process := self._processes.get(pod["metadata"]["uid"]):
            self._site.processes.signal(process, number)

    # What they find

    def log_of(self, pod: Body) -> Path:
        """Return the file of all that a pod has printed; it may not be there yet."""
        return self._sandbox(pod).log

    def _sandbox(self, pod: Body) -> Sandbox:
        meta = pod["metadata"]
        owner = meta["labels"].get(pods.JOB_UID, meta["uid"])
        group = self._groups.setdefault(owner, Group(self._folder / owner))
        base = group.folder / meta["uid"] / pods.host_of(pod)
        claims = self._folder / "claims" / meta["namespace"]
        return Sandbox(group, base, self._scratch / meta["uid"], claims)

    def _tell_names(self, pod: Body) -> None:
        """Tell all pods of a Job where each of them is."""
        owner = pod["metadata"]["labels"].get(pods.JOB_UID, "")
        alive = [each for each in self._store.all(PODS) if "podIP" in each["status"] and not pods.has_ended(each)]
        together = [each for each in alive if each is pod or each["metadata"]["labels"].get(pods.JOB_UID, "-") == owner]
        for each in together:
            write_names(self._sandbox(each), together)

    def _keys(self, pod: Body) -> dict[str, str]:
        """Return the variables with the keys of the role that the pod's service account has."""
        spec = pod["spec"]
        name = spec.get("serviceAccountName") or "default"
        return self.keys_of(pod["metadata"]["namespace"], name, self._sandbox(pod).base.with_suffix(".token"))
