"""What a plan says of the sweep before anything is solved."""

from __future__ import annotations

from orchestrator.planner.offer.formulate import formulate
from tests.fixtures.sweeps import candidate, make_market, make_sweep


def test_the_types_that_were_found_for_the_resources_are_noted() -> None:
    sweep = make_sweep(where={"resources": {"gpus": 1}}).with_types(["ml.g4dn.xlarge", "ml.g5.xlarge"])
    notes = formulate(sweep, make_market(candidate())).notes
    assert notes[0] == "where.resources: considered ml.g4dn.xlarge, ml.g5.xlarge"
    assert not [note for note in formulate(make_sweep(), make_market(candidate())).notes if "considered" in note]
