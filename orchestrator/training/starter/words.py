"""Makes a training's command: words with parameters filled in, and the other parameters as options.

It travels into the training, where the starter runs the command. A dry run shows the same words, made by this file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

ARGUMENTS = "arguments"
"""`{arguments}` stands for all parameters that the command does not name, as options."""
DATA = "data"
"""`{data}` stands for the folder that the dataset lies in, and `{data:NAME}` for that of another channel."""
_NAME = r"[A-Za-z_][\w.-]*(?::[\w.-]+)?"
_BRACES = re.compile(r"\{\{(%s)\}\}|\{(%s)\}" % (_NAME, _NAME))  # noqa: UP031  braces would be doubled
"""A name in braces; in two pairs of braces it stands for itself, in one pair."""


def option_name(parameter: str, style: str) -> str:
    """Return a parameter's name as the script knows it: with `dashes`, with `underscores`, or as it is written."""
    if style == "dashes":
        return parameter.replace("_", "-")
    return parameter.replace("-", "_") if style == "underscores" else parameter


@dataclass(frozen=True)
class Arguments:
    """The way in which a script takes its options. The defaults are what AWS's toolkit does."""

    style: str = "as_written"
    """The way in which names are written, see `option_name`."""
    joined: bool = False
    """True for --name=value in one word."""
    on_off: str = "value"
    """`flag` writes true as --name and false as nothing, `pair` as --name and --no-name."""
    lists: str = "value"
    """`words` writes --name 1 2, `repeated` --name 1 --name 2."""

    def options(self, parameters: Mapping[str, Any]) -> list[str]:
        """Return parameters as options, sorted by name."""
        return [word for name in sorted(parameters) for word in self._option(name, parameters[name])]

    def _option(self, parameter: str, value: Any) -> Iterator[str]:
        name = option_name(parameter, self.style)
        option = f"--{name}" if len(name) > 1 else f"-{name}"
        if isinstance(value, bool) and self.on_off != "value":
            if value:
                yield option
            elif self.on_off == "pair":
                yield f"--no-{name}"
        elif isinstance(value, list) and self.lists == "words":
            yield option
            yield from map(as_text, value)
        elif isinstance(value, list) and self.lists == "repeated":
            for item in value:
                yield from self._pair(option, item)
        else:
            yield from self._pair(option, value)

    def _pair(self, option: str, value: Any) -> Iterator[str]:
        if self.joined and option.startswith("--"):
            yield f"{option}={as_text(value)}"
        else:
            yield option
            yield as_text(value)


def as_text(value: Any) -> str:
    """Return a value as AWS's toolkit writes it behind an option."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return ",".join(f"{key}={value[key]}" for key in sorted(value))
    return str(value)


def names_in(text: str) -> list[str]:
    """Return the names that stand in braces in a text."""
    return [found[2] for found in _BRACES.finditer(text) if found[2]]


def fill(text: str, value_of: Callable[[str], str]) -> str:
    """Return a text with the values of the names in braces."""
    return _BRACES.sub(lambda found: f"{{{found[1]}}}" if found[1] else value_of(found[2]), text)


def make_command(
    template: Sequence[str], arguments: Arguments, parameters: Mapping[str, Any], folders: Mapping[str, str]
) -> list[str]:
    """Return the words of a command.

    `folders` are those of `{data}` and `{data:NAME}`. A list that is a word by itself becomes a word an item. Raise
    KeyError for a name in braces that is neither a parameter nor a folder.
    """
    known = {**parameters, **folders}
    named = {name for word in template for name in names_in(word)}
    others = {name: value for name, value in parameters.items() if name not in named}
    words = []
    for word in template:
        if word == f"{{{ARGUMENTS}}}":
            words += arguments.options(others)
            continue
        names = names_in(word)
        alone = len(names) == 1 and word == f"{{{names[0]}}}"
        if alone and isinstance(known[names[0]], list):
            words += map(as_text, known[names[0]])
        else:
            words.append(fill(word, lambda name: as_text(known[name])))
    return words
