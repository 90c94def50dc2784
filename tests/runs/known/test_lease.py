"""Slots are sold once: whoever submits first holds them, and a plan that has gone stale is refused."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, update

from orchestrator import Orchestrator, read
from orchestrator.db.engine import reading, writing
from orchestrator.db.tables import leases
from orchestrator.errors import Refused, UsageError
from orchestrator.plan.file import write_plan
from orchestrator.runs.known.lease import held
from orchestrator.runs.written import anchor as anchors
from orchestrator.wire.result import TaskState
from tests.fixtures.database import whole_runs

if TYPE_CHECKING:
    from orchestrator import Plan, Run
    from tests.fixtures.team import Team

only_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
ALPS = "{campaigns: [alps]}"


def plan(team: Team, x: str = "[1, 2]", **settings: object) -> Plan:
    """Two tasks, in one Region."""
    return team.plan(x, **{"data": ALPS, "hang": 60} | settings)


def slots_of(run: Run) -> dict[str, int]:
    """What the run holds of each type of instance; not of all types together."""
    quotas = held(run.name, run.ledger).items()
    return {f"{quota.region} {quota.name.partition('/')[2]}": units for quota, units in quotas if "*" not in quota.name}


@pytest.mark.long
@pytest.mark.usefixtures("nothing_starts")
def test_of_two_submits_at_once_for_the_same_slots_exactly_one_wins(team: Team, name: str) -> None:
    team.limits(2)
    processes = []
    for number, x in enumerate(("[1, 2]", "[3, 4]")):
        write_plan(plan(team, x), team.folder / f"{number}.json")
    for number in (0, 1):
        command = [Path(sys.executable).with_name("sweep"), "submit", f"{number}.json", "--yes", "--name"]
        environment = {**os.environ, "SWEEP_DATABASE": team.settings.database}
        pipe = subprocess.PIPE
        processes.append(
            subprocess.Popen(
                [*command, f"{name}-{number}"], cwd=team.folder, env=environment, stdout=pipe, stderr=pipe, text=True
            )
        )
    ended = [(process.communicate(), process.returncode) for process in processes]
    assert sorted(code for _, code in ended) == [0, 6]
    ((_, said),) = [texts for texts, code in ended if code == 6]
    assert "ml.c5.xlarge/spot in us-east-1 has 0 of 2 units free, and the plan takes 2" in said.splitlines()[-1]
    ((won, _),) = [texts for texts, code in ended if code == 0]
    assert [row.name for row in team.orchestrator().runs(sync=False)] == [won.strip()]
    team.orchestrator().run(won.strip()).cancel()


BOOK = """
import os, pathlib, sys
from orchestrator.api import Orchestrator, read_plan
from orchestrator.errors import Refused

plan = read_plan(pathlib.Path("plan.json"))
reader, writer = os.pipe()
for number in range(3):
    if os.fork() == 0:  # before anything is open that must not be shared
        os.close(writer)
        orchestrator = Orchestrator()
        wanted = orchestrator._anchor(plan, None, f"{sys.argv[1]}-{number}")
        os.read(reader, 1)  # until all are to go
        try:
            orchestrator._runs.reserve(wanted, orchestrator.stale)
        except Refused:
            os._exit(6)
        os._exit(0)
os.close(writer)
print(sorted(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(3)))
"""
"""Three processes that begin together, and import once."""


@pytest.mark.usefixtures("nothing_starts")
def test_of_many_processes_only_as_many_win_as_there_are_slots_for(team: Team, name: str) -> None:
    team.limits(4)
    write_plan(plan(team), team.folder / "plan.json")
    environment = {**os.environ, "SWEEP_DATABASE": team.settings.database}
    command = [sys.executable, "-c", BOOK, name]
    ended = subprocess.run(command, cwd=team.folder, env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout == "[0, 0, 6]\n"
    assert len(team.orchestrator().ledger.names(anchored=False)) == 2


@whole_runs
def test_leases_shrink_as_tasks_end_and_are_gone_with_the_last(team: Team, name: str) -> None:
    team.limits(1)
    run = team.orchestrator().submit(team.plan("[1]"), name=name)
    assert slots_of(run) == {"us-east-1 spot": 1, "eu-west-1 spot": 1}
    seen = [sum(slots_of(run).values()) for _ in run.watch(every_s=0.3)]
    assert seen == sorted(seen, reverse=True)
    assert slots_of(run) == {}


@pytest.mark.usefixtures("nothing_starts")
@only_sqlite
class TestRefused:
    def test_slots_that_another_run_holds_are_not_sold_again(self, team: Team, name: str) -> None:
        team.limits(3)
        second = plan(team, "[3, 4]")
        first = team.orchestrator().submit(plan(team), name=name)
        with pytest.raises(Refused, match="has 1 of 3 units free, and the plan takes 2") as refused:
            team.orchestrator().submit(second, name=f"{name}-second")
        assert refused.value.hint == "--replan plans anew, and asks"
        again = team.orchestrator().submit(team.orchestrator().replan(second), name=f"{name}-second")
        assert slots_of(again) == {"us-east-1 spot": 1}
        again.cancel()
        first.cancel()
        third = team.orchestrator().submit(second, name=f"{name}-third")
        third.cancel()

    def test_nothing_is_left_behind(self, team: Team, name: str) -> None:
        stale = plan(team)
        team.limits(1)
        with pytest.raises(Refused, match="has 1 of 1 units free, and the plan takes 2"):
            team.orchestrator().submit(stale, name=name)
        ledger = team.orchestrator().ledger
        assert ledger.names() == ledger.names(anchored=False) == []
        assert anchors.find(team.orchestrator().cloud.s3, name) is None

    def test_a_price_that_rose_is_told_with_both_sums(self, team: Team, name: str) -> None:
        made = plan(team, runtime=10, timeout="24h")
        team.learns("prices", HEADING, "us-east-1,ml.c5.xlarge,spot,0.0824,2026-11-02")
        with pytest.raises(Refused, match=r"at today's prices it costs \$\d\.\d\d, not \$\d\.\d\d"):
            team.orchestrator().submit(made, name=name)

    def test_a_price_that_rose_a_little_is_not(self, team: Team, name: str) -> None:
        made = plan(team, runtime=10, timeout="24h")
        team.learns("prices", HEADING, "us-east-1,ml.c5.xlarge,spot,0.0816,2026-11-02")
        team.orchestrator().submit(made, name=name).cancel()


HEADING = "region,instance_type,purchase,usd_per_hour,observed_at"


@pytest.mark.usefixtures("nothing_starts")
@only_sqlite
def test_a_machine_whose_catalog_knows_nothing_of_the_plan_goes_on_and_says_so(
    team: Team, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    made = plan(team)
    empty = replace(team.settings, database=f"sqlite:///{team.folder / 'empty.db'}")
    run = Orchestrator(empty).submit(made, name=name)
    (line,) = caplog.messages
    assert line == "this catalog does not know the plan: its prices and slots were not checked again"
    assert slots_of(run) == {"us-east-1 spot": 2}
    run.cancel()
    assert slots_of(run) == {}


@pytest.mark.usefixtures("nothing_starts")
@only_sqlite
def test_a_submit_killed_before_the_run_is_made_is_completed_in_its_own_slots(
    team: Team, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.limits(2)
    made = plan(team)
    with monkeypatch.context() as patch:
        patch.setattr("orchestrator.aws.s3.S3.put_once", killed)
        with pytest.raises(Killed):
            team.orchestrator().submit(made, name=name)
    run = team.orchestrator().submit(made, name=name)
    assert slots_of(run) == {"us-east-1 spot": 2}
    run.cancel()


@pytest.mark.usefixtures("nothing_starts")
@only_sqlite
def test_a_submit_killed_before_the_run_is_made_leaves_its_name_and_slots_to_another_plan(
    team: Team, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.limits(2)
    with monkeypatch.context() as patch:
        patch.setattr("orchestrator.aws.s3.S3.put_once", killed)
        with pytest.raises(Killed):
            team.orchestrator().submit(plan(team), name=name)
    with pytest.raises(UsageError, match="a submit of it was stopped before it began"):
        team.orchestrator().run(name)
    other = plan(team, "[3]", timeout="20m")
    run = team.orchestrator().submit(other, name=name)
    assert run.plan.id == other.id
    run.cancel()


@pytest.mark.usefixtures("nothing_starts")
@only_sqlite
def test_the_same_sweep_submitted_again_is_the_run_that_is_under_way(team: Team) -> None:
    """Planned again it would differ, for the run holds its slots."""
    team.limits(3)
    sweep = read(team.folder / "sweep.yaml") if plan(team) else None
    assert sweep
    run = team.orchestrator().submit(team.orchestrator().plan(sweep))
    found = team.orchestrator().run_of(sweep)
    assert found
    assert found.name == run.name
    assert team.orchestrator().run_of(sweep, "another-name") is None
    run.cancel()
    assert team.orchestrator().run_of(sweep) is None


@only_sqlite
def test_a_retry_takes_slots_again(team: Team, name: str) -> None:
    team.limits(2)
    team.breaks(1)
    run = team.orchestrator().submit(plan(team, "[1, 2]", hang=0), name=name)
    list(run.watch(every_s=0.3))
    assert slots_of(run) == {}
    run.retry()
    assert slots_of(run) == {"us-east-1 spot": 1}
    run.cancel()


@pytest.mark.usefixtures("nothing_starts")
@only_sqlite
def test_another_database_learns_what_a_run_holds_when_it_syncs(team: Team, name: str) -> None:
    run = team.orchestrator().submit(plan(team), name=name)
    other = team.orchestrator("other.db").run(name)
    other.sync()
    assert slots_of(other) == slots_of(run) == {"us-east-1 spot": 2}
    run.cancel()


@pytest.mark.usefixtures("nothing_starts")
@only_sqlite
def test_a_lease_that_nobody_renews_ends_when_the_last_task_must_have_ended(team: Team, name: str) -> None:
    team.limits(2)
    run = team.orchestrator().submit(plan(team, "[1, 2, 3, 4, 5]", timeout="10m"), name=name)
    with reading(run.ledger.engine) as connection:
        (expires_at,) = set(connection.scalars(select(leases.c.expires_at)))
    rounds, longest = 3, (10 + 30) * 60
    assert expires_at - rounds * longest == pytest.approx(time.time(), abs=300)
    second = plan(team, "[6, 7]")
    with writing(run.ledger.engine) as connection:
        connection.execute(update(leases).values(expires_at=time.time() - 1))
    other = team.orchestrator().submit(second, name=f"{name}-second")
    assert other.status().counts[TaskState.PENDING] == 2
    other.cancel()
    run.cancel()


@only_sqlite
def test_a_run_that_is_noted_is_given_back_unasked(team: Team, name: str) -> None:
    orchestrator = team.orchestrator()
    wanted = anchors.Anchor(name, plan(team), "code", "ada", 1.0)
    assert orchestrator._runs.reserve(wanted, orchestrator.stale) == wanted
    team.limits(0)
    assert orchestrator._runs.reserve(wanted, orchestrator.stale).to_json() == wanted.to_json()


class Killed(BaseException):
    """As SIGKILL would: nothing after it runs."""


def killed(*_: object) -> None:
    raise Killed


@only_sqlite
def test_a_classic_jobarrays_plan_is_looked_at_again_too(team: Team) -> None:
    """Its data is in no catalog; its lanes are."""
    team.limits(2)
    plan(team)
    jobs = team.folder / "jobs.csv"
    jobs.write_text("us-east-1,s3://sweep-local-us-east-1/data/alps/\n")
    made = team.orchestrator().plan(read(team.folder / "sweep.yaml"), classic=jobs)
    assert team.orchestrator().stale(made) == ""
    team.limits(1, day="2026-11-02")
    assert "has 1 of 1 units free, and the plan takes 2" in team.orchestrator().stale(made)
    assert team.orchestrator().replan(made).datasets == made.datasets
