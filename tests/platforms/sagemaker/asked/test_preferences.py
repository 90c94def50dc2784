"""Several types in one request, as AWS's own description of CreateTrainingJob has them."""

from __future__ import annotations

from dataclasses import replace

import botocore.session
import pytest
from botocore.validate import ParamValidator

from orchestrator.errors import InvalidRequest
from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from orchestrator.platforms.sagemaker.request import make_request
from orchestrator.wire.task import Purchase
from tests.platforms.sweeps import ON_DEMAND, TASK, sweep, template

SHAPE = botocore.session.get_session().get_service_model("sagemaker").operation_model("CreateTrainingJob").input_shape
SECOND = replace(ON_DEMAND, lane=replace(ON_DEMAND.lane, instance_type="ml.g5.2xlarge"), joined=True)
BOTH = replace(TASK, places=(ON_DEMAND, SECOND))
ASKED = {"sagemaker": {"instance_preferences": True}}


def test_joined_places_are_a_list_of_types_with_one_count() -> None:
    two = tuple(replace(place, instances=2) for place in BOTH.places)
    body = make_request(template(sweep()), replace(TASK, places=two), two[0], 1, 600).body
    assert body["ResourceConfig"] == {
        "VolumeSizeInGB": 30,
        "InstancePreferences": [{"InstanceType": "ml.g5.xlarge"}, {"InstanceType": "ml.g5.2xlarge"}],
        "InstanceCount": 2,
    }
    assert ParamValidator().validate(body, SHAPE).generate_report() == ""


def test_places_with_different_numbers_of_instances_have_a_count_each() -> None:
    two = replace(SECOND, instances=2)
    body = make_request(template(sweep()), replace(BOTH, places=(ON_DEMAND, two)), ON_DEMAND, 1, 600).body
    assert body["ResourceConfig"] == {
        "VolumeSizeInGB": 30,
        "InstancePreferences": [
            {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1},
            {"InstanceType": "ml.g5.2xlarge", "InstanceCount": 2},
        ],
    }
    assert ParamValidator().validate(body, SHAPE).generate_report() == ""
    assert SageMakerPlanning({}).joins(sweep(platforms=ASKED), ON_DEMAND, two)


def test_one_instance_stays_alone_where_several_need_variables_for_their_network() -> None:
    efa = replace(SECOND, lane=replace(SECOND.lane, instance_type="ml.g5.8xlarge"))
    assert SageMakerPlanning({}).joins(sweep(platforms=ASKED), ON_DEMAND, efa)
    assert not SageMakerPlanning({}).joins(sweep(platforms=ASKED), ON_DEMAND, replace(efa, instances=2))


def test_one_type_is_not_asked_for_twice_with_two_numbers_of_instances() -> None:
    assert not SageMakerPlanning({}).joins(sweep(platforms=ASKED), replace(ON_DEMAND, instances=2), ON_DEMAND)


def test_the_rest_of_the_request_is_that_of_the_first_place() -> None:
    alone = make_request(template(sweep()), replace(BOTH, places=(ON_DEMAND,)), ON_DEMAND, 1, 600).body
    both = make_request(template(sweep()), BOTH, ON_DEMAND, 1, 600).body
    assert {name for name in alone if alone[name] != both[name]} == {"ResourceConfig", "Tags"}


def test_the_last_of_joined_places_is_asked_for_alone_as_ever() -> None:
    body = make_request(template(sweep()), BOTH, SECOND, 1, 600).body
    assert body["ResourceConfig"] == {"VolumeSizeInGB": 30, "InstanceType": "ml.g5.2xlarge", "InstanceCount": 1}


@pytest.mark.parametrize(
    "other",
    [
        replace(ON_DEMAND, instances=2, joined=True),
        replace(SECOND, lane=replace(SECOND.lane, purchase=Purchase.SPOT)),
        replace(ON_DEMAND, site="other", joined=True),
    ],
)
def test_what_aws_takes_in_no_list_is_refused_in_words(other: object) -> None:
    places = replace(BOTH, places=(ON_DEMAND, other))  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="cannot ask for these places"):
        make_request(template(sweep()), places, ON_DEMAND, 1, 600)


@pytest.mark.parametrize(
    ("name", "joined"),
    [("ml.g5.2xlarge", True), ("ml.g4dn.xlarge", True), ("ml.g5.12xlarge", False), ("ml.m5.large", False)],
)
def test_types_of_one_kind_with_as_many_gpus_go_together(name: str, joined: bool) -> None:
    other = replace(SECOND, lane=replace(SECOND.lane, instance_type=name))
    assert SageMakerPlanning({}).joins(sweep(platforms=ASKED), ON_DEMAND, other) is joined
    assert SageMakerPlanning({}).joins(sweep(), ON_DEMAND, other) is False


@pytest.mark.parametrize(
    ("train", "complaints"),
    [
        ({}, 0),
        ({"parallel": "mpi"}, 0),
        ({"parallel": "torchrun"}, 1),
        ({"parallel": "torchrun", "command": "python train.py", "entry_point": None}, 0),
    ],
)
def test_a_toolkit_that_is_told_the_type_takes_no_list_of_them(train: dict[str, object], complaints: int) -> None:
    asked = sweep(train, platforms=ASKED)
    found = [one for one in SageMakerPlanning({}).check(asked) if one.at[-1] == "instance_preferences"]
    assert len(found) == complaints
