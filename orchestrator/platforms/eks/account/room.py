"""Does the namespace's quota bear what a plan takes at once, and are there nodes for its lanes?"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from orchestrator.platforms.account.finding import QUOTA, ok, warning, wrong
from orchestrator.platforms.eks.kube.api import LIMITS
from orchestrator.platforms.eks.kube.quantities import read_quantity
from orchestrator.platforms.eks.sent.amounts import amounts
from orchestrator.platforms.eks.supply import read_supply
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.platforms.account.finding import Finding
    from orchestrator.platforms.eks.account.subject import Subject
    from orchestrator.platforms.eks.kube.api import KubeApi


def quotas(subject: Subject, api: KubeApi) -> Iterator[Finding]:
    """Yield whether each ResourceQuota of the namespace bears what the plan takes at once; nothing without a plan."""
    taken = _taken(subject)
    if not taken:
        return
    for body in api.list(LIMITS, subject.namespace):
        name, status = body["metadata"]["name"], body.get("status") or {}
        hard = status.get("hard") or body["spec"].get("hard") or {}
        used = status.get("used") or {}
        short = {what: amount for what, amount in taken.items() if what in hard and amount > read_quantity(hard[what])}
        full = [
            what
            for what, amount in taken.items()
            if what in hard and amount + read_quantity(used.get(what, 0)) > read_quantity(hard[what])
        ]
        where = f"{subject.inside}/{name}"
        if short:
            told = ", ".join(f"{what}: {hard[what]}, and the plan takes {_shown(short[what])}" for what in short)
            patch = json.dumps({"spec": {"hard": {what: _shown(amount) for what, amount in short.items()}}})
            mend = subject.kubectl(f"patch resourcequota {name} --namespace {subject.namespace} --patch '{patch}'")
            yield wrong("quota", where, told, mend, QUOTA)
        elif full:
            told = ", ".join(f"{what}: {used[what]} of {hard[what]} are used now" for what in full)
            look = subject.kubectl(f"describe resourcequota {name} --namespace {subject.namespace}")
            yield warning("quota", where, f"{told}: some of the plan's tasks wait until there is room", look)
        else:
            yield ok("quota", where, "bears what the plan takes at once")


def nodes(subject: Subject, api: KubeApi) -> Iterator[Finding]:
    """Yield whether there are nodes, or may be, for each lane of the plan; nothing without a plan."""
    if not subject.wanted.at_once:
        return
    supply = read_supply(subject.clients, api)
    for each in subject.wanted.at_once:
        lane = each.lane
        kinds = [lane.purchase]
        if lane.purchase is Purchase.COMMITTED:  # any node of the cluster is what was committed
            kinds = [Purchase.SPOT, Purchase.ON_DEMAND]
        now, most = (sum(counts[lane.instance_type, kind] for kind in kinds) for counts in (supply.now, supply.most))
        what = f"{lane.instance_type} {lane.purchase.value}"
        look = subject.eks("list-nodegroups")
        if most >= each.instances:
            more = f", and {most - now:,} may join" if most > now else ""
            yield ok("nodes", subject.cluster, f"{now:,} of {what}{more}; the plan takes {each.instances:,}")
        elif supply.open_pools:
            pools = ", ".join(supply.open_pools)
            told = f"{now:,} of {what}, and the plan takes {each.instances:,}: the pool {pools} does not say its limits"
            yield warning("nodes", subject.cluster, told, subject.kubectl("get nodepools"))
        elif most:
            told = f"at most {most:,} of {what}, and the plan takes {each.instances:,}: the rest wait"
            yield wrong("nodes", subject.cluster, told, "sweep catalog refresh", QUOTA)
        else:
            told = f"none of {what}, and no group makes any: pods would wait until their patience ends"
            yield wrong("nodes", subject.cluster, told, look, QUOTA)


def _taken(subject: Subject) -> dict[str, float]:
    """Return what the plan's Jobs take at once, in the words of ResourceQuotas."""
    taken: Counter[str] = Counter()
    found: dict[str, float] = {}
    for each in subject.wanted.at_once:
        taken.update({"count/jobs.batch": each.trainings, "pods": each.instances, "count/pods": each.instances})
        taken.update({"count/services": each.trainings, "services": each.trainings})
        asked = amounts(each.lane.instance_type, subject.asked.efa or 0)
        for prefix, kind in (("requests.", "requests"), ("limits.", "limits")):
            for name, amount in asked.get(kind, {}).items():
                found[prefix + name] = found.get(prefix + name, 0.0) + read_quantity(amount) * each.instances
    return {**{name: float(count) for name, count in taken.items()}, **found}


def _shown(amount: float) -> str:
    return f"{amount:.0f}" if amount == int(amount) else f"{amount * 1000:.0f}m"
