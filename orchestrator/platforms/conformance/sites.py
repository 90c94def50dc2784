"""The conformance suite's part for a runner that offers sites: see `suite.py`. Others have nothing to show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.platforms.sites import OffersSites

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.platforms.conformance.subject import Subject
    from orchestrator.wire.task import Place


class SitesConformance:
    """The tests of lanes that have parts, such as zones, one of which each attempt asks."""

    def test_sites_are_names_each_told_once_to_whoever_asks(self, subject: Subject) -> None:
        for place in _places(subject):
            sites = _sites(subject, place)
            assert all(isinstance(site, str) and site for site in sites)
            assert len(set(sites)) == len(sites)
            # Another launcher may see other prices, and so another order, of the same sites.
            assert set(_sites(subject, place)) == set(sites)

    def test_a_place_with_a_site_of_its_own_has_no_others(self, subject: Subject) -> None:
        for place in _places(subject):
            for site in _sites(subject, place):
                assert list(_sites(subject, replace(place, site=site))) == []

    def test_each_site_is_asked_by_a_request_of_its_own(self, subject: Subject) -> None:
        task = subject.task(10)
        for place in _places(subject):
            asked = [replace(place, site=site) for site in _sites(subject, place)]
            made = [subject.request(task, at) for at in asked]
            assert made == [subject.request(task, at) for at in asked]
            assert {one.lane for one in made} <= {place.lane}
            assert len({one.hash for one in made}) == len(made)


def _places(subject: Subject) -> list[Place]:
    """Return the subject's places of the Region that its template is of."""
    return [place for place in (subject.place, subject.spot, subject.pair) if place is not None]


def _sites(subject: Subject, place: Place) -> Sequence[str]:
    """Return the sites that a runner offers at a place; nothing if it offers none at all."""
    runner = subject.connect()
    return runner.sites(subject.template, place) if isinstance(runner, OffersSites) else ()
