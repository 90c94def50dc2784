"""A plan that moves data first: the tasks find it in their own Region."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.s3 import S3

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator import Plan
    from tests.fixtures.team import Team

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
def plan(team: Team) -> Plan:
    """Machines beside the coast's data have become so dear that its tasks move, and its data with them."""
    rows = [f"eu-west-1,ml.c5.xlarge,{purchase},50,2026-11-02" for purchase in ("on_demand", "spot")]
    (team.folder / "prices.csv").write_text(
        "\n".join(["region,instance_type,purchase,usd_per_hour,observed_at", *rows]) + "\n"
    )
    (team.folder / "transfer_prices.csv").write_text("from_region,to_region,usd_per_gb\neu-west-1,us-east-1,0.02\n")
    team.orchestrator().catalog.load([team.folder / "prices.csv", team.folder / "transfer_prices.csv"])
    return team.plan("[2]", data="{campaigns: [coast], move_data: if_cheaper}")


def test_data_is_there_before_the_tasks_that_read_it(
    team: Team, plan: Plan, name: str, client: Callable[..., Any]
) -> None:
    assert [(copy.from_region, copy.to_region) for copy in plan.copies] == [("eu-west-1", "us-east-1")]
    run = team.orchestrator().submit(plan, name=name)
    *_, last = run.watch(every_s=0.3)
    assert last.state == "done"
    assert {row.region for row in run.results()} == {"us-east-1"}
    assert "read 8 bytes" in {line.text for line in run.logs()}
    copied = client("s3", "us-east-1").list_objects_v2(Bucket="sweep-local-us-east-1", Prefix="datasets/coast@1/")
    assert [item["Key"] for item in copied["Contents"]] == ["datasets/coast@1/rows.csv"]


def test_what_is_there_already_is_not_copied_again(
    team: Team, plan: Plan, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.orchestrator().submit(plan, name=name).cancel()
    monkeypatch.delattr(S3, "copy_from")
    team.orchestrator().submit(plan, name=f"{name}-b").cancel()


def test_a_dry_run_says_where_the_copy_will_lie(team: Team, plan: Plan, name: str) -> None:
    (training,) = team.orchestrator().requests(plan, name=name)["sagemaker"]
    source = training["CreateTrainingJob"]["InputDataConfig"][0]["DataSource"]["S3DataSource"]
    assert source["S3Uri"] == "s3://sweep-local-us-east-1/datasets/coast@1/"
