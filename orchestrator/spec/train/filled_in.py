"""Parameters in the words of a command and in variables: does each name in braces stand for one, and which are left?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import did_you_mean
from orchestrator.spec.model import wrong
from orchestrator.spec.train.arguments import IN_BRACES
from orchestrator.spec.train.environment import plain_variables
from orchestrator.training.starter.words import ARGUMENTS, DATA, names_in, option_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.spec.space.parameters import Parameter
    from orchestrator.spec.train.arguments import Arguments
    from orchestrator.spec.train.train import Train

    Path = tuple[str | int, ...]
    """The way to a value in the file."""


def check_filled_in(train: Train, parameters: Sequence[Parameter]) -> None:
    """Raise `wrong` for two parameters that are one option, and for a name in braces that stands for nothing."""
    _check_options(train.arguments, parameters)
    names = [one.name for one in parameters]
    folders = [DATA, *(f"{DATA}:{channel}" for channel in train.all_channels)]
    for at, text in _texts(train):
        for name in names_in(text):
            if name in folders and name in names:
                raise wrong(f"{{{name}}} is the data's folder, and also a parameter", hint="rename that", at=at)
            if name not in (*folders, *names, ARGUMENTS):
                hint = f"{did_you_mean(name, [*names, *folders])}; {{{{{name}}}}} is the word in braces"
                raise wrong(f"{{{name}}} stands for nothing", hint=hint, at=at)
            if name == ARGUMENTS and "environment" in at:
                raise wrong(f"{IN_BRACES} is several words, no value", hint="it is for `command`", at=at)


def find_unnamed(train: Train, parameters: Sequence[Parameter]) -> tuple[str, ...]:
    """Return the parameters that stand neither in the command nor in a variable: a script has to look for them."""
    if train.command is None or IN_BRACES in train.command:
        return ()
    named = {name for _, text in _texts(train) for name in names_in(text)}
    return tuple(one.name for one in parameters if one.name not in named)


def _check_options(arguments: Arguments, parameters: Sequence[Parameter]) -> None:
    seen: dict[str, str] = {}
    for one in parameters:
        for option in _options(one, arguments):
            if option in seen:
                message = f"{seen[option]!r} and {one.name!r} are both --{option}"
                raise wrong(message, hint="rename one of them", at=one.at)
            seen[option] = one.name


def _options(parameter: Parameter, arguments: Arguments) -> Iterator[str]:
    """Yield the options that a parameter may become: one, and --no-name where `pair` writes false so."""
    option = option_name(parameter.name, arguments.style)
    yield option
    if arguments.on_off == "pair" and any(isinstance(value, bool) for value in parameter.values):
        yield f"no-{option}"


def _texts(train: Train) -> Iterator[tuple[Path, str]]:
    """Yield each text in which names may stand in braces, with its path in the file."""
    yield from ((("train", "command", index), word) for index, word in enumerate(train.command or ()))
    positional = enumerate(train.arguments.positional)
    yield from ((("train", "arguments", "positional", index), word) for index, word in positional)
    variables = plain_variables(train.environment)
    yield from ((("train", "environment", name), text) for name, text in variables.items())
