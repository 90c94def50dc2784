"""Whatever Kubernetes would refuse of a pod, or never place, is refused where it is written, with what to do.

What a server refuses is in kubernetes.io/docs/concepts/overview/working-with-objects/labels, in
kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration, and in pkg/apis/core/validation.
"""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.platforms.eks.planning import EksPlanning
from tests.platforms.sweeps import sweep

VOLUME = {"claim": "fsx", "path": "/fsx"}
TORCHRUN = {"parallel": "torchrun", "instances": 4}


def complaints(asked: Any, **train: Any) -> list[tuple[str, str]]:
    found = EksPlanning({"cluster": "prod"}).check(sweep(train, platforms={"eks": asked}))
    told = [(f"{one.message} ({one.hint})", [str(word) for word in one.at[2:] if word != "[key]"]) for one in found]
    return [(message, ".".join(words)) for message, words in told]


@pytest.mark.parametrize(
    ("asked", "says", "at"),
    [
        ({"queue": "Team_A"}, "not a name in Kubernetes: 'Team_A' (small letters", "queue"),
        ({"namespace": "my ns"}, "not a name in Kubernetes: 'my ns'", "namespace"),
        ({"service_account": "-x"}, "not a name in Kubernetes: '-x'", "service_account"),
        ({"node_selector": {"a b": "c"}}, "not the key of a label: 'a b' (such as topology.", "node_selector.a b"),
        ({"node_selector": {"/zone": "c"}}, "not the key of a label: '/zone'", "node_selector./zone"),
        ({"node_selector": {"zone": "a b"}}, "not the value of a label: 'a b' (letters, ", "node_selector.zone"),
        ({"node_selector": {"zone": "x" * 64}}, "not the value of a label", "node_selector.zone"),
        ({"node_selector": {"zone": 1}}, "expected text, got 1 (put it in quotes)", "node_selector.zone"),
        *(
            (
                {"node_selector": {key: "x"}},
                f"the lane says what {key} is (name it under where.{said} ",
                f"node_selector.{key}",
            )
            for key, said in (
                ("node.kubernetes.io/instance-type", "instance_types"),
                ("eks.amazonaws.com/capacityType", "purchases"),
                ("karpenter.sh/capacity-type", "purchases"),
                ("topology.kubernetes.io/region", "regions"),
            )
        ),
        ({"tolerations": [{"key": "a b"}]}, "not the key of a label: 'a b'", "tolerations.0.key"),
        (
            {"tolerations": [{"key": "a", "value": "b"}]},
            "Exists compares no value (write ",
            "tolerations.0.value",
        ),
        (
            {"tolerations": [{"operator": "Equal"}]},
            "Equal compares the value of one taint",
            "tolerations.0.operator",
        ),
        (
            {"tolerations": [{"operator": "Is"}]},
            "unknown 'Is' (choose from: Exists, Eq",
            "tolerations.0.operator",
        ),
        ({"volumes": {"shm": VOLUME}}, "a volume of ours is called shm (give this one ", "volumes.shm"),
        ({"volumes": {"a": VOLUME, "b": VOLUME}}, "/fsx is where a is mounted (mount it", "volumes.b.path"),
        (
            {"volumes": {"a": {**VOLUME, "path": "/opt/ml"}}},
            "/opt/ml is taken by the training",
            "volumes.a.path",
        ),
        ({"volumes": {"a": {**VOLUME, "path": "fsx"}}}, "not a path: 'fsx' (such as /fsx)", "volumes.a.path"),
        ({"elastic": {"min": 4, "max": 2}}, "4 pods at least are more than 2 at most", "elastic.min"),
        ({"elastic": {"min": 1, "max": 2}}, "there are to be 2 pods at most, and 4 instances", "elastic.max"),
        ({"elastic": {"min": 5, "max": 8}}, "there are to be 5 pods at least, and 4 instances", "elastic.min"),
        ({"efa": -1}, "should be greater than or equal to 0, got -1", "efa"),
        ({"cluster": "prod"}, "unknown key 'cluster' (choose from: ", "cluster"),
    ],
)
def test_what_a_cluster_would_refuse_is_told_where_it_stands(asked: dict[str, Any], says: str, at: str) -> None:
    ((message, where),) = complaints(asked, **TORCHRUN)
    assert (says in message, where) == (True, at), message


@pytest.mark.parametrize(
    "asked",
    [
        {"node_selector": {"topology.kubernetes.io/zone": "eu-west-1a", "Team_A.b": "", "x": "A_b.c-1"}},
        {"tolerations": [{}, {"key": "a/b"}, {"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute"}]},
        {"volumes": {"a": VOLUME, "b": {**VOLUME, "path": "/opt/mlflow"}, "c": {**VOLUME, "path": "/fsx/c"}}},
    ],
)
def test_what_a_cluster_takes_is_taken(asked: dict[str, Any]) -> None:
    assert complaints(asked, **TORCHRUN) == []
