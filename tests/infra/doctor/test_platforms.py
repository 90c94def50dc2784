"""Each platform is looked at that a sweep may use, and no other; without a sweep those that are set up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.infra.doctor.platforms import platforms
from orchestrator.infra.doctor.subject import Need
from orchestrator.platforms import registry
from orchestrator.platforms.account.finding import ok
from tests.platforms.sweeps import sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.infra.doctor.subject import Subject
    from orchestrator.platforms.account.finding import Finding


class _Looks:
    """A platform that finds itself."""

    def __init__(self, name: str) -> None:
        self.name = name

    def check(self, *_: object) -> Iterator[Finding]:
        yield ok("platform", self.name, "there")


@pytest.mark.parametrize(
    ("named", "looked_at"),
    [(None, ["ec2", "eks"]), ([], ["ec2", "eks"]), (["ec2"], ["ec2"]), (["sagemaker"], ["sagemaker"])],
)
def test_only_platforms_that_the_sweep_may_use_are_looked_at(
    subject: Subject, monkeypatch: pytest.MonkeyPatch, named: list[str] | None, looked_at: list[str]
) -> None:
    monkeypatch.setattr(registry, "make_operating", _Looks)
    need = Need() if named is None else Need(sweep=sweep(where={"platforms": named}))
    names = replace(subject.names, platforms=("ec2", "eks"), regions=("eu-west-1",))
    found = platforms(replace(subject, names=names, need=need))
    assert [finding.where for finding in found] == looked_at
