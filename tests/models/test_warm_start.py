"""A warm start: the champion's parameters are tried beside all others, and trainings find its model in their Region."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter

from orchestrator.catalog.survey.select_types import select_types
from orchestrator.errors import NotFound, SpecError
from orchestrator.models.models import Models
from orchestrator.planner.solve import solve
from orchestrator.runs.sending import champion as bringing
from orchestrator.runs.written.anchor import same_sweep
from orchestrator.spec.space.axes import Axis
from orchestrator.spec.space.space import Space
from orchestrator.spec.sweep import Sweep
from tests.fixtures.sweeps import candidate, make_market, make_sweep
from tests.models.bench import MEASURED, finished, models

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from tests.fixtures.team import Team
    from tests.runs.bench import Desk

AXIS: TypeAdapter[Any] = TypeAdapter(Axis)


def space(beside: dict[str, Any], sizes: tuple[str, ...] = (), **axes: Any) -> list[dict[str, Any]]:
    made = Space({name: AXIS.validate_python(axis) for name, axis in axes.items()}, sizes, beside)
    assert len(made) == made.sizes * made.points_per_size
    return [made.point(number) for number in range(len(made))]


def test_the_champion_s_parameters_are_one_point_more() -> None:
    points = space({"lr": 0.3, "depth": 2}, lr=[0.1, 0.2], depth=[2, 3])
    assert points[:4] == space({}, lr=[0.1, 0.2], depth=[2, 3])
    assert points[4:] == [{"lr": 0.3, "depth": 2}]


def test_they_are_tried_with_every_combination_of_size_parameters() -> None:
    points = space({"lr": 0.3, "epochs": 7}, ("epochs",), lr=[0.1], epochs=[1, 2])
    assert [(point["epochs"], point["lr"]) for point in points] == [(1, 0.1), (1, 0.3), (2, 0.1), (2, 0.3)]


@pytest.mark.parametrize(
    ("beside", "axes"),
    [
        ({"lr": 0.1, "depth": 3}, {"lr": [0.1, 0.2], "depth": [2, 3]}),
        ({"lr": 0.1}, {"lr": [0.1, 0.2], "depth": [2, 3]}),
        ({"a": 1, "b": 2}, {"both": {"zip": {"a": [1, 3], "b": [2, 4]}}}),
        ({}, {"lr": [0.1]}),
        ({"other": 1}, {}),
    ],
)
def test_what_is_tried_anyway_or_says_too_little_is_no_point_more(beside: dict[str, Any], axes: dict[str, Any]) -> None:
    assert space(beside, **axes) == space({}, **axes)


@pytest.mark.parametrize(("beside", "axis"), [({"on": 1}, "bool"), ({"on": True}, [1, 2])])
def test_true_is_not_1(beside: dict[str, Any], axis: Any) -> None:
    assert len(space(beside, on=axis)) == 3


def test_zipped_parameters_that_never_met_are_a_point_more() -> None:
    axes = {"both": {"zip": {"a": [1, 3], "b": [2, 4]}}}
    assert space({"a": 1, "b": 4}, **axes)[-1] == {"a": 1, "b": 4}


def warm(desk: Desk, **changes: Any) -> Sweep:
    body = {"name": "steering", **MEASURED, "space": {"lr": [0.5], "epochs": [1, 2]}, "warm_start": "champion"}
    return models(desk).warm(make_sweep(**body | changes))


@pytest.fixture
def champion(desk: Desk) -> None:
    """Its parameters are lr=0.1 and epochs=2."""
    assert models(desk).challenge(finished(desk, "monday", [0.5, 0.4, 0.6, 0.1])).challenger.point["lr"] == 0.1


@pytest.mark.usefixtures("champion")
def test_a_plan_has_the_champion_s_tasks_and_hands_them_its_model(desk: Desk) -> None:
    sweep = warm(desk)
    assert sweep.train.channels["champion"] == "s3://data-{region}/champions/steering/1/"
    plan = solve(sweep, make_market(candidate(), candidate(dataset="coast@1", region="eu-west-1")))
    points = [(plan.task(n, code="c").dataset, plan.point(n)["epochs"], plan.point(n)["lr"]) for n in range(plan.tasks)]
    assert points == [(name, epochs, lr) for name in ("alps@1", "coast@1") for epochs in (1, 2) for lr in (0.5, 0.1)]
    again = type(plan).from_json(plan.to_json())
    assert [again.point(n) for n in range(again.tasks)] == [plan.point(n) for n in range(plan.tasks)]
    assert again.id == plan.id


@pytest.mark.usefixtures("champion")
def test_a_warm_sweep_is_the_same_sweep_as_its_file_s(desk: Desk) -> None:
    body = {"name": "steering", **MEASURED, "space": {"lr": [0.5], "epochs": [1, 2]}, "warm_start": "champion"}
    written = make_sweep(**body)
    assert same_sweep(warm(desk), written)
    assert len(warm(desk).points) == len(written.points) + 2


@pytest.mark.usefixtures("champion")
def test_choosing_instance_types_leaves_a_sweep_warm(desk: Desk) -> None:
    nothing: Any = None
    assert select_types(nothing, nothing, warm(desk)) == warm(desk)
    assert len(select_types(nothing, nothing, warm(desk)).points) == 4


@pytest.mark.usefixtures("champion")
def test_parameters_alone_bring_no_model(desk: Desk) -> None:
    sweep = warm(desk, warm_start="parameters")
    assert sweep.train.channels == {}
    assert len(sweep.points) == 4


def test_without_a_champion_trainings_start_cold_and_that_is_said(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    assert warm(desk).warm is None
    assert "steering has no champion yet: its trainings start cold" in caplog.text


@pytest.mark.usefixtures("champion")
def test_parameters_that_the_champion_lacks_are_said(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    sweep = warm(desk, space={"width": [1, 2], "epochs": [1]})
    assert len(sweep.points) == 2
    assert "the champion, task 3 of monday, has no width: its parameters are not tried" in caplog.text


@pytest.mark.usefixtures("champion")
def test_a_channel_of_that_name_is_in_the_way(desk: Desk) -> None:
    with pytest.raises(SpecError, match="the channel champion brings the champion's model"):
        warm(desk, train__channels={"champion": "s3://data-{region}/mine/"})


def test_the_file_itself_cannot_say_which_champion() -> None:
    with pytest.raises(Exception, match="warm_start"):
        make_sweep(warm_start="yes")
    assert "warm" not in Sweep.model_json_schema()["properties"]


class Planned:
    """As much of a plan as is looked at to bring a model."""

    regions = ("us-east-1", "eu-west-1")

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep


@pytest.mark.usefixtures("champion")
def test_the_model_is_copied_once_to_every_region_and_nothing_beside_it(desk: Desk, clients: Clients) -> None:
    buckets = {region: clients.client("s3", region) for region in Planned.regions}
    buckets["us-east-1"].create_bucket(Bucket="data-us-east-1")
    where: Any = {"LocationConstraint": "eu-west-1"}
    buckets["eu-west-1"].create_bucket(Bucket="data-eu-west-1", CreateBucketConfiguration=where)
    plan: Any = Planned(warm(desk))
    cloud: Any = desk.cloud()
    cloud.clients = clients
    with pytest.raises(NotFound, match="the champion's model is gone"):
        bringing.bring_champion(plan, cloud)
    for name in ("model.tar.gz", "model.tar.gz.old"):
        buckets["us-east-1"].put_object(Bucket="data-us-east-1", Key=f"runs/monday/3/{name}", Body=b"weights")
    for _ in range(2):
        bringing.bring_champion(plan, cloud)
    for region, s3 in buckets.items():
        found = s3.list_objects_v2(Bucket=f"data-{region}", Prefix="champions/")["Contents"]
        assert [item["Key"] for item in found] == ["champions/steering/1/model.tar.gz"]


@pytest.mark.long
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_trainings_in_every_region_find_the_champion_s_model(team: Team, name: str, client: Any) -> None:
    orchestrator = team.orchestrator()
    first = team.plan("[2]", data="{campaigns: [alps]}")
    body = first.sweep.model_dump(mode="json") | {"name": name}
    cold = Sweep.model_validate(body).model_copy(update={"folder": first.sweep.folder})
    run = orchestrator.submit(orchestrator.plan(cold), name=f"{name}-1")
    list(run.watch(every_s=0.3))
    champions = Models(orchestrator.cloud, "ada")
    assert champions.challenge(run).promoted
    asked = Sweep.model_validate(body | {"data": {}, "space": {"x": [1]}, "warm_start": "champion"})
    sweep = champions.warm(asked.model_copy(update={"folder": first.sweep.folder}))
    warm = orchestrator.plan(sweep)
    assert orchestrator.requests(warm, name=f"{name}-2"), "a dry run needs no model where trainings will find it"
    second = orchestrator.submit(warm, name=f"{name}-2")
    *_, last = second.watch(every_s=0.3)
    assert last.state == "done"
    assert sorted((row.dataset, row.point["x"]) for row in second.results()) == [
        ("alps@1", 1),
        ("alps@1", 2),
        ("coast@1", 1),
        ("coast@1", 2),
    ]
    training = next(row.training for row in second.results() if row.region == "eu-west-1")
    found = client("sagemaker", "eu-west-1").describe_training_job(TrainingJobName=training)["InputDataConfig"]
    uri = next(one for one in found if one["ChannelName"] == "champion")["DataSource"]["S3DataSource"]["S3Uri"]
    assert uri == f"s3://sweep-local-eu-west-1/champions/{name}/1/"
