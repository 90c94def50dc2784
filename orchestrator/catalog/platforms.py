"""What the installed platforms say of lanes. The catalog asks them through here, and knows no platform by itself."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from orchestrator.catalog.files.cells import is_local
from orchestrator.catalog.wording import few
from orchestrator.errors import UsageError, did_you_mean
from orchestrator.platforms.billing import Billing
from orchestrator.platforms.refusals import find_refusal
from orchestrator.platforms.start import Start
from orchestrator.spec.known_types import KnownTypes
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.platforms.base import Complaint, Planning
    from orchestrator.spec.sweep import Sweep, Where
    from orchestrator.wire.shapes import Shape


class Platforms:
    """Knows the platforms that are installed, those that a sweep uses unless it says otherwise, and their proxies."""

    def __init__(self, planning: Mapping[str, Planning], usual: Sequence[str] = ()) -> None:
        """Take the planning part of each installed platform, and the names of those to use unless a sweep names some.

        If `usual` is empty, all are used.
        """
        self._planning = dict(planning)
        self.usual = tuple(usual or planning)
        self.refuses = cache(self._refuses)

    @property
    def known(self) -> tuple[str, ...]:
        """The names of platforms whose facts may be in the catalog: those that are installed, and their proxies."""
        proxies = {name for planning in self._planning.values() for name in planning.proxies}
        return tuple(sorted(proxies.union(self._planning)))

    @property
    def installed(self) -> tuple[str, ...]:
        """The names of platforms that count something: a proxy only lends its prices."""
        return tuple(sorted(self._planning))

    def asked(self, where: Where) -> tuple[str, ...]:
        """Return the platforms that a sweep may train on. UsageError if one of them is not installed."""
        names = tuple(where.platforms) or self.usual
        for name in names:
            if name not in self._planning:
                raise UsageError(f"no platform {name!r} is installed", hint=did_you_mean(name, sorted(self._planning)))
        return names

    def known_types(self, where: Where, told: Mapping[str, Shape]) -> KnownTypes:
        """Return what is known of instance types, those of the platforms included that a sweep may train on.

        `told` are shapes that the catalog was told, by the names of their types.
        """
        return KnownTypes([*(self._planning[name].shapes for name in self.asked(where)), told])

    def _refuses(self, lane: Lane) -> str:
        """Return in words why its platform has no such lane; nothing if it has, or if only prices are known of it."""
        planning = self._planning.get(lane.platform)
        return planning.refuses(lane) if planning else ""

    def may_train(self, lane: Lane) -> bool:
        """Return whether sweeps that name no platform may train on a lane."""
        return lane.platform in self.usual and not is_local(lane.region) and not self.refuses(lane)

    def excludes(self, sweep: Sweep, lane: Lane) -> str:
        """Return in words why a sweep's trainings cannot run on a lane of a platform that is installed, or nothing."""
        return find_refusal(self._planning[lane.platform], lane, sweep)

    def proxy(self, lane: Lane) -> Lane | None:
        """Return the lane whose spot price and interruptions stand in for this spot lane's, if there is one."""
        return self._planning[lane.platform].proxy(lane)

    def types_asked(self, where: Where) -> list[str]:
        """Return the instance types that a sweep may use, and those whose prices stand in for theirs, sorted."""
        lanes = [
            Lane(platform, "", name, Purchase.SPOT) for platform in self.asked(where) for name in where.instance_types
        ]
        proxies = (self.proxy(lane) for lane in lanes if not self.refuses(lane))
        return sorted({*where.instance_types, *(proxy.instance_type for proxy in proxies if proxy)})

    def complaints(self, sweep: Sweep) -> Iterator[Complaint]:
        """Yield what the platforms that the sweep may train on cannot do of it."""
        for name in self.asked(sweep.where):
            yield from self._planning[name].check(sweep)

    def cautions(self, sweep: Sweep) -> tuple[str, ...]:
        """Return what the platforms that the sweep may train on warn of, each line once; and what is said to others."""
        asked = self.asked(sweep.where)
        lines = [line for name in asked for line in self._planning[name].cautions(sweep)]
        unheard = sorted(name for name, table in sweep.platforms.items() if table and name not in asked)
        lines += [f"platforms.{name} says nothing here: the sweep runs on {few(asked)}" for name in unheard]
        return tuple(dict.fromkeys(lines))

    def start(self, lane: Lane) -> Start:
        """Return how trainings of a lane start: at once, and as many as are wanted, if its platform does not say."""
        return getattr(self._planning[lane.platform], "start", Start())

    def billing(self, platform: str) -> Billing:
        """Return what a platform bills beside training: nothing, if it does not say."""
        return getattr(self._planning[platform], "billing", Billing())

    def uses(self, lane: Lane, site: str = "") -> dict[str, int]:
        """Return the units of each quota, by its name, that one instance counts for. A site is a quota of its own."""
        uses = dict(self._planning[lane.platform].uses(lane, site))
        return uses | {site: 1} if site else uses
