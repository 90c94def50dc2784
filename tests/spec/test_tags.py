"""Tags of a sweep are such as AWS takes, beside those that sweep adds."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from tests.fixtures.sweeps import make_sweep


def test_tags_are_texts_by_name() -> None:
    tags = {"cost-centre": "4711", "Team": "vision & maps".replace("&", "+"), "empty": "", "Größe": "1"}
    assert make_sweep(tags=tags).tags == tags


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        ({"sweep:run": "mine"}, "'sweep:run' cannot be a tag's key"),
        ({"AWS:created": "x"}, "'AWS:created' cannot be a tag's key"),
        ({"": "x"}, "'' cannot be a tag's key"),
        ({"k" * 129: "x"}, "too long a tag"),
        ({"k": "x" * 257}, "too long a tag"),
        ({"k": "a,b"}, "a tag is letters, digits, spaces and"),
        ({f"k{n}": "x" for n in range(46)}, "46 tags are too many"),
        ({"k": 3}, "should be a valid string"),
    ],
)
def test_what_aws_would_refuse_is_refused(tags: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        make_sweep(tags=tags)
    assert said in str(caught.value)
