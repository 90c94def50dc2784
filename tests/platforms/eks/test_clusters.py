"""Clusters as EKS describes them: one that is not ready, and an answer that is understood no more."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.errors import CloudError, SettingsError
from orchestrator.platforms.eks.kube.clusters import list_clusters, open_cluster


class Answers:
    """Stands for `Clients`: each call of EKS's has one answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def client(self, *_: str) -> Any:
        return self

    def describe_cluster(self, **_: str) -> Any:
        return self.answer

    def get_paginator(self, _: str) -> Any:
        return self

    def paginate(self) -> Any:
        return [self.answer]


def test_a_cluster_that_is_being_made_is_to_be_waited_for() -> None:
    clients: Any = Answers({"cluster": {"name": "prod", "status": "CREATING"}})
    with pytest.raises(SettingsError, match="the cluster prod is CREATING"):
        open_cluster(clients, "eu-west-1", "prod")


@pytest.mark.parametrize("answer", [{}, {"cluster": None}, {"cluster": {"endpoint": "https://x"}}, None])
def test_an_answer_that_is_understood_no_more_is_one_line(answer: Any) -> None:
    clients: Any = Answers(answer)
    with pytest.raises(CloudError, match="could not look for the cluster prod: the answer cannot be understood"):
        open_cluster(clients, "eu-west-1", "prod")
    with pytest.raises(CloudError, match="could not list the clusters: the answer cannot be understood"):
        list_clusters(clients, "eu-west-1")
