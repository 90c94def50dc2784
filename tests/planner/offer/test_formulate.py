"""What a plan says of the sweep before anything is solved."""

from __future__ import annotations

import pytest

from orchestrator.errors import InfeasibleError
from orchestrator.planner.offer.formulate import formulate
from tests.fixtures.sweeps import candidate, make_market, make_sweep


def test_the_types_that_were_found_for_the_resources_are_noted() -> None:
    sweep = make_sweep(where={"resources": {"gpus": 1}}).with_types(["ml.g4dn.xlarge", "ml.g5.xlarge"])
    notes = formulate(sweep, make_market(candidate())).notes
    assert notes[0] == "where.resources: considered ml.g4dn.xlarge, ml.g5.xlarge"
    assert not [note for note in formulate(make_sweep(), make_market(candidate())).notes if "considered" in note]


def test_a_choice_of_instances_is_refused_until_plans_can_make_it() -> None:
    assert formulate(make_sweep(train__instances=[2]), make_market(candidate())).sweep.train.instance_counts == (2,)
    with pytest.raises(InfeasibleError, match=r"^train.instances: no plan chooses among several numbers of instances"):
        formulate(make_sweep(train__instances=[1, 2]), make_market(candidate()))
