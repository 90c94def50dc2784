"""Whom a selector means. What is expected is what Kubernetes' own page says, in its order:

kubernetes.io/docs/concepts/overview/working-with-objects/labels
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.localcloud.services.eks.kubernetes.reading.selectors import read_selection
from orchestrator.localcloud.services.eks.kubernetes.status import KubeError

KEYS, VALUES = ("environment", "tier", "example.com/partition"), ("production", "qa", "frontend", "")
OBJECTS = [
    {},
    {"environment": "production"},
    {"environment": "qa", "tier": "frontend"},
    {"environment": "dev", "tier": "backend", "partition": "a"},
]


def chosen(selector: str) -> list[int]:
    """The objects that a selector means, by their index."""
    selection = read_selection("", {"labelSelector": selector})
    return [index for index, labels in enumerate(OBJECTS) if selection.has({"metadata": {"labels": labels}})]


@pytest.mark.parametrize(
    ("selector", "meant"),
    [
        ("environment = production", [1]),
        ("environment==production", [1]),
        # "The latter selects all resources with key equal to tier and value distinct from frontend, and all resources
        # with no labels with the tier key."
        ("tier != frontend", [0, 1, 3]),
        # "One could filter for resources in production excluding frontend using the comma operator"
        ("environment=production,tier!=frontend", [1]),
        ("environment in (production, qa)", [1, 2]),
        # "... and all resources with no labels with the tier key."
        ("tier notin (frontend, backend)", [0, 1]),
        # "all resources including a label with key partition; no values are checked."
        ("partition", [3]),
        ("!partition", [0, 1, 2]),
        # "Similarly the comma separator acts as an AND operator."
        ("partition,environment notin (qa)", [3]),
        # "Set-based requirements can be mixed with equality-based requirements."
        ("partition in (a, b),environment!=qa", [3]),
        ("", [0, 1, 2, 3]),
    ],
)
def test_a_selector_means_what_kubernetes_page_says(selector: str, meant: list[int]) -> None:
    assert chosen(selector) == meant


@pytest.mark.parametrize("selector", ["a in b", "a in (b", "a b", "in (a)", "a=b c", "a in (b c)", "a<3", "!", "=a"])
def test_what_is_no_selector_is_a_bad_request(selector: str) -> None:
    with pytest.raises(KubeError, match="unable to parse requirement") as told:
        chosen(selector)
    assert told.value.code == 400


@given(
    st.lists(
        st.tuples(
            st.sampled_from(KEYS),
            st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
            st.lists(st.sampled_from(VALUES), min_size=1, max_size=3),
        ),
        max_size=4,
    ),
    st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES)),
)
def test_requirements_written_as_text_mean_what_their_operators_do(
    expressions: list[tuple[str, str, list[str]]], labels: dict[str, str]
) -> None:
    written = {"In": "{} in ({})", "NotIn": "{} notin ({})", "Exists": "{}", "DoesNotExist": "!{}"}
    text = ",".join(written[operator].format(key, ",".join(values)) for key, operator, values in expressions)
    holds = {
        "In": lambda key, values: key in labels and labels[key] in values,
        "NotIn": lambda key, values: key not in labels or labels[key] not in values,
        "Exists": lambda key, _: key in labels,
        "DoesNotExist": lambda key, _: key not in labels,
    }
    selection = read_selection("", {"labelSelector": text})
    expected = all(holds[operator](key, values) for key, operator, values in expressions)
    assert selection.has({"metadata": {"labels": labels}}) is expected
