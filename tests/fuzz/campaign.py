"""Hands inputs to readers, and keeps those that are not answered in one line, soon, and without an effect."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NoReturn

from orchestrator.cli.errors import show_error
from orchestrator.errors import SweepError
from tests.fuzz.options import CommandLines
from tests.fuzz.readers import Readers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fuzz.readers import Input

SOON_S = 10
LONGEST = 1_000
"""Characters of what is said of one input."""
CODES = {0, 1, 2, 4, 5, 6}
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_OURS = re.compile(
    r"changed\.(yaml|json)|plan\.json|lines\.manifest|settings|src|\w+\.csv|fuzz\.db.*|loop|pipe|home|\.sweep.*"
)


class Hang(BaseException):
    """An input was not answered in time."""


@dataclass
class Campaign:
    """Fuzzes with one seed: the same seed gives the same inputs."""

    folder: Path
    seed: int
    found: dict[str, str] = field(default_factory=dict)
    """What went wrong, with the input: the first of each kind."""
    tried: Counter[str] = field(default_factory=Counter)
    """How many inputs each reader was given."""

    def run(self, count: int) -> None:
        """Try so many inputs. One in fifty is a command line."""
        project = self.folder / "project"
        readers, lines = Readers(project), CommandLines(project)
        (project / "home").mkdir()
        (project / "loop").symlink_to("loop")
        os.mkfifo(project / "pipe")
        with _at_home(project):
            for number in range(count):
                random = Random(f"{self.seed}:{number}")
                made = lines.make(random) if number % 50 == 0 else readers.make(random)
                self.tried[made.what.split(":")[0].split(" [")[0]] += 1
                wrong = answer(made) or effects(project, made)
                if wrong:
                    self.found.setdefault(wrong, f"seed {self.seed}, number {number}: {made.what}")


def answer(made: Input) -> str:
    """Return what is wrong with the answer to an input; nothing if it is as it should be."""
    said = io.StringIO()
    try:
        with _in_time(), contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            code = made.read()
    except Hang:
        return f"no answer in {SOON_S} s"
    except SweepError as error:
        with contextlib.redirect_stderr(said):
            code = show_error(error, debug=False)
    except BaseException as error:  # noqa: BLE001 - that is what is looked for
        return f"{type(error).__name__}: {str(error)[:100]}"
    text = said.getvalue()
    if "this is a bug" in text or "Traceback" in text:
        return text[:200]
    if made.what.startswith("sweep [") and code not in CODES:
        return f"exit code {code}"
    lines = [_as_shown(line) for line in text.splitlines()]
    errors = [line for line in lines if line.startswith("error: ")]
    if len(errors) > 1 or any(len(line) > LONGEST for line in lines):
        return f"{len(errors)} errors, {max(map(len, lines))} characters"
    return f"control character {_CONTROL.search(text)!r}" if _CONTROL.search(text) else ""


def _as_shown(line: str) -> str:
    """Return what a line says; of an error under --json its message, in which JSON spells every letter beyond ASCII."""
    return str(json.loads(line)["error"]["message"]) if line.startswith('{"error"') else line


def effects(project: Path, made: Input) -> str:
    """Return what an input has left behind, and take it away; nothing if that is nothing."""
    left = [path for path in project.iterdir() if not _OURS.fullmatch(path.name)]
    wanted = "'-o'" in made.what or "--plot" in made.what
    for path in left:
        path.unlink()
    home = [path.name for path in (project / "home").iterdir()]
    return "" if wanted or not (left or home) else f"left behind: {[path.name for path in left]} {home}"


@contextlib.contextmanager
def _at_home(project: Path) -> Iterator[None]:
    """Work in this folder, as somebody who has no settings and no account."""
    before, folder = dict(os.environ), Path.cwd()
    for name in list(os.environ):
        if name.startswith(("AWS_", "SWEEP_", "XDG_")):
            del os.environ[name]
    os.environ |= {
        "HOME": str(project / "home"),
        "SWEEP_DATABASE": f"sqlite:///{project / 'fuzz.db'}",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    os.chdir(project)
    try:
        yield
    finally:
        os.chdir(folder)
        os.environ.clear()
        os.environ |= before


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    def ring(_number: int, _frame: object) -> NoReturn:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, SOON_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
