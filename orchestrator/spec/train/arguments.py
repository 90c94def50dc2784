"""`train.arguments` and `train.command`: how a training's parameters reach its script, as words of a command line."""

from __future__ import annotations

import shlex
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from orchestrator.spec.model import Model, shown, wrong
from orchestrator.training.starter.words import ARGUMENTS

IN_BRACES = f"{{{ARGUMENTS}}}"
"""What stands for all parameters that a command does not name."""


def _words(value: Any) -> Any:
    """Return a command as its words: a text is split as a shell would, and nothing else of a shell is done."""
    if isinstance(value, str):
        try:
            value = shlex.split(value)
        except ValueError as error:
            raise wrong(f"the command cannot be split into words: {str(error).lower()}") from error
    hint = "write `command: python train.py {arguments}`"
    if not isinstance(value, list):
        raise wrong(f"expected a command, got {shown(value)}", hint=hint)
    if not value:
        raise wrong("the command is empty", hint=hint)
    for index, word in enumerate(value):
        if not isinstance(word, str):
            raise wrong(f"expected a word, got {shown(word)}", hint="put it in quotes", at=(index,))
        _check_word(word, (index,))
    return value


def _check_word(word: str, at: tuple[int, ...]) -> None:
    if "\0" in word:
        raise wrong("a NUL character cannot be passed to a process", at=at)
    if IN_BRACES in word and word != IN_BRACES:
        raise wrong(f"{IN_BRACES} is several words: it cannot be a part of one", at=at)


def _positional(value: Any) -> Any:
    for index, word in enumerate(value if isinstance(value, list) else ()):
        if isinstance(word, str):
            _check_word(word, (index,))
            if word == IN_BRACES:
                raise wrong(f"{IN_BRACES} is for `command`: here options follow by themselves", at=(index,))
    return value


Command = Annotated[
    list[str],
    BeforeValidator(_words, json_schema_input_type=str | Annotated[list[str], Field(min_length=1)]),
]
"""A command line, as one text or word by word."""


class Arguments(Model):
    """The way in which the script takes its options. The defaults are what AWS's toolkit does: `--name value`."""

    style: Literal["as_written", "dashes", "underscores"] = Field(
        default="as_written", description="dashes: --learning-rate for learning_rate; underscores: the other way round"
    )
    joined: bool = Field(default=False, description="true: --name=value, in one word")
    on_off: Literal["value", "flag", "pair"] = Field(
        default="value", description="of true and false: flag is --name or nothing, pair is --name or --no-name"
    )
    lists: Literal["value", "words", "repeated"] = Field(
        default="value", description="of lists: words is --name 1 2, repeated is --name 1 --name 2"
    )
    positional: Annotated[list[str], BeforeValidator(_positional)] = Field(
        default=[], description="words before all options, such as '{data}' or '{epochs}'"
    )

    @property
    def options(self) -> dict[str, Any]:
        """What `Arguments` of the starter is made with: all but `positional`, which stands in `Train.command_words`."""
        return self.model_dump(exclude_defaults=True, exclude={"positional"})

    @property
    def beyond_names(self) -> str:
        """The first key that asks for more than other names, or nothing: AWS's toolkit can do names only."""
        asked = {"joined": self.joined, "on_off": self.on_off != "value", "lists": self.lists != "value"}
        return next((key for key, is_asked in {**asked, "positional": bool(self.positional)}.items() if is_asked), "")
