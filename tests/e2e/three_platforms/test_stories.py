"""What people do with a run over three platforms, in orders that nobody has thought of."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from orchestrator.plan.file import write_plan
from orchestrator.wire.result import TaskState
from tests.e2e.three_platforms.audit import check_costs, check_done_once, check_nothing_left
from tests.e2e.three_platforms.company import TYPES, tasks_by_platform

if TYPE_CHECKING:
    from orchestrator import Plan, Run
    from orchestrator.localcloud import LocalCloud
    from tests.e2e.three_platforms.company import Company
    from tests.fixtures.witness import Witness

pytestmark = pytest.mark.long


def last_of_each_platform(plan: Plan, run: str) -> list[str]:
    """Return the first training of the last task of each platform: nobody waits behind it for the slots of its lane."""
    last = {share.places[0].lane.platform: share.first + share.count - 1 for share in plan.shares}
    assert last.keys() == TYPES.keys()
    return [f"{run}-{task}-1" for task in last.values()]


def watch(run: Run) -> str:
    *_, last = run.watch(every_s=0.5)
    return last.state


def test_a_run_that_a_colleague_cancels_is_retried_to_its_end(company: Company, witness: Witness, name: str) -> None:
    plan = company.plan(5, campaigns=("alps", "coast"))
    held = last_of_each_platform(plan, name)
    for training in held:
        company.hold(training)
    ours, theirs = company.orchestrator(), company.orchestrator("theirs")
    ours.submit(plan, name=name)
    company.await_begun(name, held)

    run = theirs.run(name)  # their database knows nothing yet: not to look at it first is no mistake
    run.results()
    run.cost()
    assert theirs.reap().strays == []
    assert name in [row.name for row in theirs.runs()]
    run.cancel()
    assert [line for line in witness.left(name) if "instance" not in line or "shutting-down" not in line] == []
    stopped = {row.training: row.state for row in run.results()}
    assert {training: stopped[training] for training in held} == dict.fromkeys(held, TaskState.CANCELLED)
    check_costs(company, witness, run)

    company.let_go(name)
    mine = ours.run(name)
    mine.sync()
    assert mine.status().counts[TaskState.CANCELLED] >= len(held)
    mine.retry()
    assert watch(mine) == "done"
    check_done_once(company, witness, mine, 10)
    check_costs(company, witness, mine)
    check_nothing_left(witness, ours, mine)
    told = {line.task for line in run.logs() if "x is " in line.text}
    assert told == set(range(10))
    run.sync()
    assert sum(row.usd for row in run.cost()) == pytest.approx(sum(row.usd for row in mine.cost()))


def test_a_submit_that_is_killed_is_gone_on_with_by_two_at_once(company: Company, witness: Witness, name: str) -> None:
    plan = company.plan(2, campaigns=("alps", "coast", "desert"))
    write_plan(plan, company.folder / "plan.json")

    def submit(machine: str) -> subprocess.Popen[bytes]:
        company.orchestrator(machine)
        environment = {
            **os.environ,
            "SWEEP_DATABASE": f"sqlite:///{company.folder / machine}.db",
            "SWEEP_POLL_S": "0.5",
        }
        words = ["submit", "plan.json", "--yes", "--name", name]
        code = "import sys; from orchestrator.cli.app import main; sys.argv[0] = 'sweep'; sys.exit(main())"
        return subprocess.Popen([sys.executable, "-c", code, *words], cwd=company.folder, env=environment)

    first, until = submit("ours"), time.monotonic() + 120
    while not company.is_anchored(name) and first.poll() is None:
        assert time.monotonic() < until, "nothing is written down"
    first.kill()
    first.wait()
    both = [submit("ours"), submit("theirs")]
    assert [one.wait(timeout=300) for one in both] == [0, 0]
    run = company.orchestrator("theirs").run(name)
    assert watch(run) == "done"
    check_done_once(company, witness, run, 6)
    check_costs(company, witness, run)
    ours = company.orchestrator()
    ours.run(name).sync()  # what a run holds in a database is given back there by whoever looks
    check_nothing_left(witness, ours, run)


def test_what_failed_on_one_platform_is_retried_on_another(
    company: Company, witness: Witness, cloud: LocalCloud, name: str
) -> None:
    """The first has no machines any more: the run's places behind it are of another platform."""
    plan = company.plan(1, campaigns=("desert",), platforms=("ec2", "eks"), patience="0s")
    assert tasks_by_platform(plan) == {"ec2": 1}
    (company.marks(name) / "broken").write_text("1")
    ours = company.orchestrator()
    run = ours.submit(plan, name=name)
    assert watch(run) == "failed"
    (row,) = run.results()
    assert (row.platform, row.state) == ("ec2", TaskState.FAILED)
    assert "x=1 is broken" in row.reason

    (company.marks(name) / "broken").unlink()
    for zone in ("a", "b", "c"):
        cloud.steering.add(
            "capacity", region="eu-west-1", zone=f"eu-west-1{zone}", instance_type="c5.xlarge", seconds=3600.0
        )
    run.retry()
    assert watch(run) == "done"
    (row,) = run.results()
    assert row.platform == "eks"
    check_done_once(company, witness, run, 1)
    check_costs(company, witness, run)
    assert {cost.platform for cost in run.cost() if cost.usd} == {"ec2", "eks"}
    check_nothing_left(witness, ours, run)
