"""Variables of the environment that an image has, too."""

from __future__ import annotations

import pytest

from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from tests.fixtures.sweeps import make_sweep

PLANNING = SageMakerPlanning({})


@pytest.mark.parametrize("name", ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH"])
def test_a_variable_of_the_image_is_replaced_with_a_caution(name: str) -> None:
    asked = make_sweep(train__environment={name: "/opt/conda/bin:/usr/bin", "COLOUR": "blue"})
    assert list(PLANNING.check(asked)) == []
    assert f"environment: {name} takes the place of the image's own, with all that stood there" in (
        PLANNING.cautions(asked)
    )


@pytest.mark.parametrize("value", ["$PATH:/opt/ml/code", "/opt/ml/code:$PATH"])
def test_nobody_completes_a_path(value: str) -> None:
    [complaint] = PLANNING.check(make_sweep(train__environment={"PATH": value}))
    assert complaint.at == ("train", "environment", "PATH")
    assert complaint.message == f"PATH: no shell completes {value}, and the training finds it as it is"


def test_other_variables_may_have_a_dollar() -> None:
    asked = make_sweep(train__environment={"PRICE": "$5"})
    assert list(PLANNING.check(asked)) == []
    assert not any("environment:" in line for line in PLANNING.cautions(asked))
