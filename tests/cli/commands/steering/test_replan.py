from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.plan.plan import Share
from orchestrator.runs.sending.proposal import Proposal
from orchestrator.runs.sending.unstarted import Unstarted
from orchestrator.runs.written.planned import Planned
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.task import Limits, Place
from tests.runs.bench import LANES, plan

if TYPE_CHECKING:
    from tests.cli.calls import Sweep
    from tests.cli.fake import FakeOrchestrator


def proposal(usd: float) -> Proposal:
    """Return a plan by which all of three tasks, which cost $6 where they are, go to another Region."""
    found = Unstarted([], plan(3), Ranges.parse("0-2"), Ranges(), {}, (), frozenset(), 0.0)
    place = Place(LANES[1], "s3://data-eu-west-1/alps/", rate=1.8)
    share = Share(0, 3, 0, (place,), 0.5, 0.5, Limits(3600))
    return Proposal(found, Planned((share,)), 6.0, usd, 2.0, 1.0, None, 0, fastest=False)


@pytest.fixture
def cheaper(team: FakeOrchestrator) -> FakeOrchestrator:
    team.proposal = proposal(usd=4.5)
    return team


def test_what_would_move_and_what_it_saves_is_shown_and_without_a_terminal_nothing_moves(
    sweep: Sweep, cheaper: FakeOrchestrator
) -> None:
    ended = sweep("replan")
    assert ended.code == 0
    table, said = ended.out.splitlines()[:-1], ended.out.splitlines()[-1]
    assert " ".join(table[1].split()) == "ml.g5.xlarge spot in us-east-1 ml.g5.xlarge spot in eu-west-1 3"
    words = "nightly: 3 tasks not started cost $6.00 where they are, and $4.50 so. They should move: it is cheaper."
    assert said == words
    assert ended.err == "nothing was moved: --yes moves them\n"
    assert "replan" not in cheaper.opened.calls


def test_with_yes_they_move_and_those_that_started_meanwhile_are_told(sweep: Sweep, cheaper: FakeOrchestrator) -> None:
    ended = sweep("replan", "nightly", "--yes")
    assert ended.out.splitlines()[-1] == "nightly: 2 tasks moved: 1-2"
    assert ended.err == "1 task started meanwhile, and stays: 0\n"
    assert cheaper.opened.calls[-1] == "replan"


def test_with_a_budget_those_that_stay_are_sent_anew_too(sweep: Sweep, team: FakeOrchestrator) -> None:
    """Their envelopes are dealt out anew."""
    cheaper = proposal(usd=4.5)
    (share,) = cheaper.planned.shares
    stays = replace(share, first=2, count=1, places=cheaper.unstarted.plan.shares[0].places)
    team.proposal = replace(cheaper, planned=Planned((replace(share, count=2), stays)))
    ended = sweep("replan", "nightly", "--yes")
    assert ended.out.splitlines()[1].split()[-1] == "2"
    assert ended.out.splitlines()[-1] == "nightly: 2 tasks sent anew: 1-2"


def test_a_place_that_is_not_to_be_had_any_more_has_no_price(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.proposal = replace(proposal(usd=4.5), lost=3)
    why = "3 of them wait for a place that is not to be had any more"
    assert (
        sweep("replan").out.splitlines()[-1] == f"nightly: 3 tasks not started cost $4.50 so. They should move: {why}."
    )


def test_platforms_are_named_where_tasks_go_from_one_to_another(sweep: Sweep, team: FakeOrchestrator) -> None:
    """EC2 and EKS have the same instance types."""
    cheaper = proposal(usd=4.5)
    (share,) = cheaper.planned.shares
    there = replace(share.places[0], lane=replace(LANES[1], platform="eks"))
    team.proposal = replace(cheaper, planned=Planned((replace(share, places=(there,)),)))
    words = "fake ml.g5.xlarge spot in us-east-1 eks ml.g5.xlarge spot in eu-west-1 3"
    assert " ".join(sweep("replan").out.splitlines()[1].split()) == words


@pytest.mark.usefixtures("cheaper")
def test_json_is_one_object_with_what_came_of_it(sweep: Sweep) -> None:
    dry = json.loads(sweep("replan", "--json").out)
    assert (dry["submission"], dry["saves_usd"], dry["moves"][0]["tasks"]) == (0, 1.5, 3)
    wet = json.loads(sweep("replan", "--json", "--yes").out)
    assert (wet["submission"], wet["moved"], wet["started"]) == (2, "1-2", "0")


@pytest.mark.parametrize(
    ("usd", "said"),
    [
        (5.8, "moving 3 would save $0.20 of $6.00, and less than $0.30 (5 %) is not worth it"),
        (6.5, "moving 3 would save nothing"),
    ],
)
def test_what_is_not_worth_it_changes_nothing_and_says_so_in_one_line(
    sweep: Sweep, team: FakeOrchestrator, usd: float, said: str
) -> None:
    team.proposal = proposal(usd)
    ended = sweep("replan", "--yes")
    assert (ended.code, ended.out) == (0, f"nightly: 3 tasks not started stay where they are: {said}\n")
    assert "replan" not in team.opened.calls


def test_a_plan_that_moves_nothing_and_a_run_without_waiting_tasks_are_one_line_each(
    sweep: Sweep, team: FakeOrchestrator
) -> None:
    team.proposal = replace(proposal(6.0), planned=Planned(()))
    said = "nightly: 3 tasks not started stay where they are: no other place is better today\n"
    assert sweep("replan", "--yes").out == said
    team.proposal = None
    assert sweep("replan", "--yes").out == "nightly: no task waits to be started\n"
    assert json.loads(sweep("replan", "--json").out)["waiting"] == 0


def test_tasks_that_would_be_late_or_have_lost_their_place_move_though_it_costs_more(
    sweep: Sweep, team: FakeOrchestrator
) -> None:
    team.proposal = replace(proposal(7.0), left_hours=1.5)
    assert "where they are, the last would end 0.5 h after the deadline." in sweep("replan").out
    team.proposal = replace(proposal(7.0), lost=2)
    assert "2 of them wait for a place that is not to be had any more." in sweep("replan").out
