"""Ids of what a network is made of, as platforms let users write them."""

from __future__ import annotations

import re

from pydantic import AfterValidator

from orchestrator.spec.model import listed_once, shown, wrong


def ids_of(kind: str) -> AfterValidator:
    """Return what checks a list of ids of this kind, such as `subnet`: each is one, and none is there twice."""

    def validate(names: list[str]) -> list[str]:
        for index, name in enumerate(listed_once(names)):
            if not re.fullmatch(rf"{kind}-([0-9a-f]{{8}}|[0-9a-f]{{17}})", name):
                raise wrong(f"{shown(name)} is no id of one", hint=f"such as {kind}-0123456789abcdef0", at=(index,))
        return names

    return AfterValidator(validate)
