"""Plays stories on paper, one after the other, each in a process of its own."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import traceback
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.chaos.kills.script import Choice, Script
from tests.chaos.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.chaos.kills.team import Office

STORY_S = 1800
"""Seconds that a story may take, with all that forks from it."""


def warm_up(office: Office) -> None:
    """Play a story without kills in this process: what it imports and learns, all that fork from it have."""
    with _in_one_thread():
        Script(Choice(0, bad_weather=False, lines=False, often=0.0), office, office.folder / "warm").play()
    gc.freeze()


def play_story(choice: Choice, office: Office, folder: Path) -> Report:
    """Play one story, and all that forks from it. Return what was met and found."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            signal.alarm(STORY_S)
            gc.disable()
            with _in_one_thread():
                report = Script(choice, office, folder / str(choice.seed)).play()
        except BaseException:  # noqa: BLE001  it goes to the parent
            report = Report(broken=[("bugs", f"{choice}: {traceback.format_exc()}")])
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(report, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(said) if said else Report(broken=[("stuck", f"{choice} broke off")])


@contextmanager
def _in_one_thread() -> Iterator[None]:
    """Let pools do their work at once, in the thread of whoever asks: a fork takes one thread along."""
    submit = ThreadPoolExecutor.submit
    ThreadPoolExecutor.submit = _at_once  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        ThreadPoolExecutor.submit = submit  # type: ignore[method-assign]


def _at_once(_: Any, call: Callable[..., Any], *arguments: Any, **named: Any) -> Future[Any]:
    """Do now what a pool would do later."""
    future: Future[Any] = Future()
    try:
        future.set_result(call(*arguments, **named))
    except Exception as error:  # noqa: BLE001  the pool's caller gets it
        future.set_exception(error)
    return future
