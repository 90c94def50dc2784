"""Platforms are found by their names among the packages that are installed."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from orchestrator.aws.session import Clients
from orchestrator.errors import UsageError
from orchestrator.platforms import registry


def test_sagemaker_is_installed_with_its_three_parts() -> None:
    assert "sagemaker" in registry.platforms()
    assert type(registry.make_runner("sagemaker", Clients())).__name__ == "SageMakerRunner"
    assert type(registry.make_planning("sagemaker", {})).__name__ == "SageMakerPlanning"
    assert type(registry.make_operating("sagemaker")).__name__ == "SageMakerOperating"


def test_an_unknown_platform_is_named_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"no platform 'sagemkaer' is installed \(did you mean 'sagemaker'\?\)"):
        registry.make_runner("sagemkaer", Clients())


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_package:Runner", "No module named 'no_such_package'"),
        ("orchestrator.platforms.base:Nothing", "Nothing"),
    ],
)
def test_a_platform_that_cannot_be_loaded_is_one_clear_line(
    monkeypatch: pytest.MonkeyPatch, value: str, why: str
) -> None:
    broken = EntryPoint("broken", value, registry.RUNNERS)
    monkeypatch.setattr(registry, "_installed", lambda _: {"broken": broken})
    with pytest.raises(UsageError, match=rf"the platform 'broken' is installed, but .* cannot be loaded: .*{why}"):
        registry.make_runner("broken", Clients())
