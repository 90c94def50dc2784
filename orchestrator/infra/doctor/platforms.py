"""Does each platform find what it needs in each Region? It says so itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.infra.wanted import wanted_of
from orchestrator.platforms import registry
from orchestrator.platforms.account.finding import carefully

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.infra.doctor.subject import Subject
    from orchestrator.platforms.account.finding import Finding


def platforms(subject: Subject) -> Iterator[Finding]:
    """Yield what the platforms find that the sweep may use, or that are set up, in all their Regions."""
    names, need = subject.names, subject.need
    named = need.sweep.where.platforms if need.sweep else ()
    for name in dict.fromkeys(named or names.platforms):
        operating = registry.make_operating(name)
        ours = tuple(each for each in need.at_once if each.lane.platform == name)
        for region in dict.fromkeys((*names.regions, *sorted({each.lane.region for each in ours}))):
            wanted = wanted_of(names, name, region)
            wanted = replace(
                wanted,
                principal=subject.principal,
                sweep=need.sweep,
                at_once=tuple(each for each in ours if each.lane.region == region),
            )
            yield from carefully(name, region, operating.check(subject.clients, wanted))
