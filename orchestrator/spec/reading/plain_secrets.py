"""Secrets that stand in a sweep file as they are: every plan, manifest and request would have them.

Only a sweep file is looked at. What lies stored was looked at when it was made, or is older than this check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.secrecy import looks_like_aws_secret, looks_like_key, names_secret
from orchestrator.spec.reading.mistakes import Mistake

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.spec.sweep import Sweep

_HOW = "write {ssm: /NAME} or {secret: NAME} if it lies in AWS, or {value: …, plain: true} if everybody may see it"


def find_plain_secrets(sweep: Sweep) -> Iterator[Mistake]:
    """Yield a mistake, which does not repeat the value, for each text of a sweep that seems to be a secret."""
    for name, value in sweep.train.environment.items():
        if isinstance(value, str) and value:
            yield from _look_at_variable(name, value)
    for parameter in sweep.parameters:
        for index, given in enumerate(parameter.values):
            yield from _look_inside(given, parameter.value_at(index))
    yield from _look_inside(sweep.train.arguments.positional, ("train", "arguments", "positional"))
    yield from _look_inside(sweep.platforms, ("platforms",))


def _look_at_variable(name: str, value: str) -> Iterator[Mistake]:
    at = ("train", "environment", name)
    kind = looks_like_key(value) or ("an AWS secret key" if looks_like_aws_secret(value) else "")
    if kind:
        yield Mistake(f"the value of {name} looks like {kind}, and would be in every plan", _HOW, at)
    elif names_secret(name):
        yield Mistake(f"{name} sounds like a secret, which would be in every plan", _HOW, at)


def _look_inside(value: Any, at: tuple[str | int, ...]) -> Iterator[Mistake]:
    """Yield the mistakes of a text, or of all texts in a list or a mapping."""
    if isinstance(value, str):
        yield from _look_at_word(value, at)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _look_inside(each, (*at, index))
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _look_inside(each, (*at, name))


def _look_at_word(word: str, at: tuple[str | int, ...]) -> Iterator[Mistake]:
    kind = looks_like_key(word)
    if kind:
        hint = "put it into `train.environment`, as a secret by reference"
        yield Mistake(f"this looks like {kind}, and would be in every plan, command line and log", hint, at)
