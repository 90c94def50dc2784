from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from datetime import tzinfo

    from tests.cli.calls import Sweep

pytestmark = pytest.mark.usefixtures("project")


def test_a_plan_shows_what_runs_where_for_how_much(sweep: Sweep) -> None:
    header, *lines = sweep("plan", "sweep.yaml").out.splitlines()
    assert header.split() == ["REGION", "INSTANCE_TYPE", "PURCHASE", "TASKS", "EACH", "$_EACH", "$_TOTAL", "BY_WHEN"]
    assert lines[0].split()[:4] == ["eu-central-1", "ml.c5.xlarge", "spot", "6"]
    assert "12 tasks" in lines[3]
    assert lines[4].startswith("no plan is cheaper; at most $")
    assert lines[5].startswith("note: ")
    assert lines[-1] == "pauses if the first 5 tasks to fail do so alike and none is done"


def test_a_plan_explains_itself(sweep: Sweep) -> None:
    lines = sweep("plan", "sweep.yaml", "--explain", "0").out.splitlines()
    assert lines[0].startswith("tasks 0-")
    assert lines[1].startswith("  chosen: ")
    assert sweep("plan", "sweep.yaml", "--explain", "12").err.startswith("error: there is no task 12")


def test_what_time_costs_is_a_table_and_a_picture(sweep: Sweep) -> None:
    ended = sweep("plan", "sweep.yaml", "--frontier", "-o", "frontier.svg")
    assert ended.out.splitlines()[0].split() == ["DONE_IN", "$", "MACHINE_TIME", "LANES"]
    assert Path("frontier.svg").read_text().startswith("<svg ")
    sweep("plan", "sweep.yaml", "--frontier", "-o", "frontier.png")
    assert Path("frontier.png").read_bytes().startswith(b"\x89PNG")
    wrong = sweep("plan", "sweep.yaml", "--frontier", "-o", "frontier.jpg")
    assert (wrong.code, wrong.out) == (2, "")
    assert "neither a .svg nor a .png file" in wrong.err


def test_what_time_costs_where_a_classic_jobarray_says_where_the_data_lies(sweep: Sweep) -> None:
    Path("jobs.csv").write_text("eu-central-1,s3://mine/a/\n")
    ended = sweep("plan", "sweep.yaml", "--frontier", "--manifest", "jobs.csv", "--json")
    assert [point["hours"] for point in json.loads(ended.out)] != []
    assert json.loads(ended.out) != json.loads(sweep("plan", "sweep.yaml", "--frontier", "--json").out)


def test_a_plan_says_what_changed_since_another(sweep: Sweep) -> None:
    sweep("plan", "sweep.yaml", "-o", "old.json")
    assert len(sweep("plan", "sweep.yaml", "--diff", "old.json").out.splitlines()) == 1


def test_a_plan_as_json_adds_up(sweep: Sweep) -> None:
    body = json.loads(sweep("plan", "sweep.yaml", "--json").out)
    assert (body["sweep"], body["tasks"]) == ("my-sweep", 12)
    assert sum(line["tasks"] for line in body["lines"]) == 12
    assert sum(line["usd"] for line in body["lines"]) == pytest.approx(body["usd"])


def test_a_plan_that_chose_how_many_instances_shows_them(sweep: Sweep) -> None:
    text = Path("sweep.yaml").read_text()
    Path("sweep.yaml").write_text(text.replace("  instances: 1 ", "  efficiency: 0.9\n  instances: [1, 2] "))
    header, first, *_ = sweep("plan", "sweep.yaml").out.splitlines()
    assert header.split()[2:5] == ["PURCHASE", "INSTANCES", "TASKS"]
    assert first.split()[3] == "1"
    [line, *_] = json.loads(sweep("plan", "sweep.yaml", "--json").out)["lines"]
    assert line["instances"] == 1


def test_the_same_sweep_gives_the_same_file(sweep: Sweep) -> None:
    sweep("plan", "sweep.yaml", "-o", "one.json")
    sweep("plan", "sweep.yaml", "-o", "two.json")
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()


def test_the_file_holds_the_plan_that_was_shown(sweep: Sweep) -> None:
    body = json.loads(sweep("plan", "sweep.yaml", "-o", "plan.json", "--json").out)
    assert json.loads(Path("plan.json").read_text())["id"] == body["id"]


@pytest.mark.parametrize("output", ["missing/plan.json", "file/plan.json", "."])
def test_a_file_that_cannot_be_written_is_one_clear_line(sweep: Sweep, output: str) -> None:
    Path("file").write_text("")
    before = files()
    ended = sweep("plan", "sweep.yaml", "-o", output)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1
    assert files() == before


def files() -> list[Path]:
    """All files and folders here, but for those that SQLite makes while the database is open."""
    return sorted(file for file in Path().rglob("*") if not file.name.startswith("sweep.db-"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("space:", "spcae:", "error: sweep.yaml:{line}:1: unknown key 'spcae' (did you mean 'space'?)"),
        ("[32, 64]", "[]", "error: sweep.yaml:{line}:15: the list is empty"),
        ("[ml.m5.xlarge, ml.c5.xlarge]", "[ml.m5.xlrage]", "ml.m5.xlrage"),
        ("# regions: [eu-west-1, eu-central-1]", "regions: [eu-west-1]", "eu-west-1"),
    ],
)
def test_a_bad_sweep_is_one_line_that_says_where(sweep: Sweep, old: str, new: str, said: str) -> None:
    text = Path("sweep.yaml").read_text()
    assert old in text
    Path("sweep.yaml").write_text(text.replace(old, new))
    ended = sweep("plan", "sweep.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert said.format(line=text[: text.index(old)].count("\n") + 1) in ended.err
    assert ended.err.count("\n") == 1


def test_a_missing_sweep_is_one_clear_line(sweep: Sweep) -> None:
    ended = sweep("plan", "swep.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "error: swep.yaml: no such file (`sweep init` writes an example)\n"


def test_a_classic_jobarray_says_where_the_data_lies(sweep: Sweep) -> None:
    Path("jobs.csv").write_text("eu-central-1,s3://mine/a/\neu-west-1,s3://mine/b/\n")
    body = json.loads(sweep("plan", "sweep.yaml", "--manifest", "jobs.csv", "--json").out)
    assert {line["region"] for line in body["lines"]} == {"eu-central-1", "eu-west-1"}
    assert body["tasks"] == 12


@pytest.mark.parametrize("output", ["", "."])
@pytest.mark.usefixtures("project")
def test_a_plan_cannot_be_written_over_a_folder(sweep: Sweep, output: str) -> None:
    ended = sweep("plan", "sweep.yaml", "-o", output)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "error: .: is a folder (name the file to write)\n"


def test_a_plan_may_be_given_a_time_limit(sweep: Sweep) -> None:
    assert sweep("plan", "sweep.yaml", "--time-limit", "1m", "--json").out == sweep("plan", "sweep.yaml", "--json").out
    for wrong, said in (("soon", "'soon' is no duration"), ("0s", "no time at all")):
        ended = sweep("plan", "sweep.yaml", "--time-limit", wrong)
        assert (ended.code, ended.out) == (2, "")
        assert said in ended.err
    assert "takes no time limit" in sweep("plan", "sweep.yaml", "--frontier", "--time-limit", "1m").err


def test_a_refusal_says_what_would_do(sweep: Sweep) -> None:
    text = Path("sweep.yaml").read_text()
    Path("sweep.yaml").write_text(text + "plan: {deadline: 1m}\n")
    ended = sweep("plan", "sweep.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert "longer than the deadline of 1m (relax the deadline to " in ended.err


def test_a_file_that_is_no_plan_is_not_written_over(sweep: Sweep) -> None:
    script = Path("src/train.py").read_text()
    for options in ([], ["--frontier"]):
        name = "picture.svg" if options else "src/train.py"
        Path(name).write_text(script)
        refused = sweep("plan", "sweep.yaml", *options, "-o", name)
        assert (refused.code, refused.out) == (2, "")
        assert f"{name}: is there already, and is no p" in refused.err
        assert "--force replaces it" in refused.err
        assert Path(name).read_text() == script
        assert sweep("plan", "sweep.yaml", *options, "-o", name, "--force").code == 0
        assert Path(name).read_text() != script
        assert sweep("plan", "sweep.yaml", *options, "-o", name).code == 0


class Noon(datetime):
    """A clock that stands still: `by when` is told to the minute."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime(2026, 11, 23, 12, tzinfo=tz)


def test_a_plan_can_be_made_by_what_was_known_at_a_moment(
    project: Path, sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.cli.commands.sweeps.plan.datetime", Noon)
    before = sweep("plan", "sweep.yaml").out
    header, *rows = (project / "catalog" / "prices.csv").read_text().splitlines()
    (project / "prices.csv").write_text("\n".join([header, *(tenfold(row) for row in rows)]))
    assert sweep("catalog", "load", "prices.csv").code == 0
    assert sweep("plan", "sweep.yaml").out != before
    assert sweep("plan", "sweep.yaml", "--as-of", "2026-11-02").out == before
    early = sweep("plan", "sweep.yaml", "--as-of", "2020-01-01")
    assert (early.code, early.err) == (
        2,
        "error: 2020-01-01T00:00:00Z: no price was known then (the first is of 2026-11-01T00:00:00Z)\n",
    )
    assert sweep("plan", "sweep.yaml", "--as-of", "2026-11-01T00:00:00Z").code == 0


def tenfold(row: str) -> str:
    """The same price ten days later, ten times as high."""
    *lane, usd, _, source = row.split(",")
    return ",".join([*lane, str(10 * float(usd)), "2026-11-11", source])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--as-of", "last week"], "--as-of: 'last week' is no moment (write it like 2026-11-01"),
        (["--as-of", "2999-01-01"], "--as-of: 2999-01-01 is yet to come (leave it out"),
        (["--as-of", "2026-11-02", "--refresh"], "--refresh asks what AWS says now, not then"),
    ],
)
def test_a_moment_that_cannot_be_meant_is_refused(sweep: Sweep, options: list[str], said: str) -> None:
    ended = sweep("plan", "sweep.yaml", *options)
    assert (ended.code, said in ended.err) == (2, True)


@pytest.mark.usefixtures("project")
def test_what_cannot_be_refreshed_is_said_and_the_plan_is_made_by_the_old_facts(
    sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    ended = sweep("plan", "sweep.yaml", "--refresh")
    assert (ended.code, "12 tasks" in ended.out) == (0, True)
    assert ended.err.startswith("warning: nothing was refreshed: ")
    assert "Unable to locate credentials" in ended.err


def test_a_gpu_that_is_newer_than_this_code_is_asked_for_by_the_name_that_the_catalog_was_told(sweep: Sweep) -> None:
    text = Path("sweep.yaml").read_text()
    types = "  instance_types: [ml.m5.xlarge, ml.c5.xlarge]\n"
    assert types in text
    Path("sweep.yaml").write_text(text.replace(types, "  resources: {gpu: [b400]}\n"))
    unknown = sweep("plan", "sweep.yaml")
    assert (unknown.code, "no GPU is known as 'b400'" in unknown.err) == (2, True)
    Path("instance_types.csv").write_text(
        "instance_type,vcpus,memory_gib,chip,chips,chip_memory_gib,gbps,efa\ng9.xlarge,4,16,B400,1,256,50,true\n"
    )
    row = "eu-central-1,ml.g9.xlarge,on_demand,2.5,2026-11-01\n"
    Path("prices.csv").write_text(f"region,instance_type,purchase,usd_per_hour,observed_at\n{row}")
    quota = "eu-central-1,ml.g9.xlarge,on_demand,4,2026-11-01\n"
    Path("quotas.csv").write_text(f"region,instance_type,purchase,slots,observed_at\n{quota}")
    loaded = sweep("catalog", "load", "instance_types.csv", "prices.csv", "quotas.csv")
    assert loaded.code == 0, loaded.err
    planned = sweep("plan", "sweep.yaml", "--json")
    assert planned.code == 0, planned.err
    assert {line["instance_type"] for line in json.loads(planned.out)["lines"]} == {"ml.g9.xlarge"}
