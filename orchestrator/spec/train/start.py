"""What a training starts: a script of the source folder, any command, or what its image starts by itself."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from orchestrator.spec.model import Model, shown, wrong
from orchestrator.spec.train.arguments import IN_BRACES, Arguments, Command

IMAGE = "image"
"""The entry point that stands for what the image starts by itself."""


def _folder(value: str) -> str:
    if not value or value.startswith(("/", "~")) or "\\" in value:
        raise wrong(f"not a folder relative to the sweep file: {shown(value)}")
    return value


def _inside_source(value: str) -> str:
    if value == IMAGE:
        return value
    path = PurePosixPath(value)
    if not value or path.is_absolute() or ".." in path.parts or "\\" in value:
        raise wrong(f"not a path inside the source folder: {shown(value)}")
    if path.suffix not in (".py", ".sh"):
        raise wrong(f"neither a .py nor a .sh file: {shown(value)}", hint="`command` starts anything else")
    return value


class Start(Model):
    """The part of `train` that says what is started, with which words."""

    entry_point: Annotated[str, AfterValidator(_inside_source)] | None = Field(
        default=None, description="the script, inside `source`: a .py or a .sh; or `image`, for what the image starts"
    )
    command: Command | None = Field(
        default=None, description="instead of an entry point: any command, with {name}, {data} and {arguments} in it"
    )
    arguments: Arguments = Arguments()
    source: Annotated[str, AfterValidator(_folder)] | None = Field(
        default=None, description="folder of the code, relative to this file; a command may do without"
    )

    source_outside: bool = Field(
        default=False, description="true: `source` may lie outside the sweep file's folder, and that is meant"
    )
    dependencies: list[Annotated[str, AfterValidator(_folder)]] = Field(
        default=[], description="further files and folders, relative to this file: they lie beside the code"
    )

    @property
    def script(self) -> str | None:
        """The entry point that lies in `source`; None if a command or the image starts the training."""
        return None if self.entry_point == IMAGE else self.entry_point

    @property
    def starts_image(self) -> bool:
        """True if the image starts what it always starts."""
        return self.entry_point == IMAGE

    @property
    def command_words(self) -> list[str]:
        """The words of the command, with names in braces still; none if the image has a command of its own."""
        if self.command is not None:
            return self.command
        return [self.script, *self.arguments.positional, IN_BRACES] if self.script else []

    @model_validator(mode="after")
    def _one_thing_starts(self) -> Start:
        if self.command is not None and self.entry_point is not None:
            raise wrong("entry_point and command exclude each other", hint="keep one of them", at=("command",))
        if self.command is None and self.entry_point is None:
            raise wrong("nothing to start", hint="add `entry_point: train.py` under train, or a `command`")
        if self.script and self.source is None:
            hint = f"it is the folder that {self.script} lies in"
            raise wrong("train.source is missing", hint=hint, at=("entry_point",))
        return self

    @model_validator(mode="after")
    def _words_have_one_place(self) -> Start:
        if self.command is not None and self.arguments.positional:
            at = ("arguments", "positional")
            raise wrong("the command has its words already", hint="put these words into it", at=at)
        if self.dependencies and self.source is None:
            raise wrong("there is no source for these to lie beside", hint="add a source", at=("dependencies",))
        if self.starts_image and self.source is not None:
            hint = "leave the line out, or name a script"
            raise wrong("what the image starts gets no source", hint=hint, at=("source",))
        if self.starts_image and self.arguments != Arguments():
            hint = "it reads them from hyperparameters.json; `command` starts another one"
            raise wrong("what the image starts has no arguments", hint=hint, at=("arguments",))
        return self
