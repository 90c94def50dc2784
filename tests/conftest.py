"""Fixtures shared between rooms live in tests/fixtures, a file per concern."""

from __future__ import annotations

import gc
import signal
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

import botocore.session
import pytest
from botocore.loaders import create_loader
from hypothesis import HealthCheck, settings

from tests.fixtures.examples import examples

FIXTURES = ("aws", "cloud", "database", "empty", "schema", "team", "toolkit", "trial")
pytest_plugins = [f"tests.fixtures.{name}" for name in FIXTURES]

# Whoever runs us in the background may have us ignore Ctrl-C, and what we start would inherit that: tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The libraries' many objects stay: looking through them for garbage as often as Python would by itself takes a fifth of
# the CPU of all tests.
gc.set_threshold(50_000)

# Every Orchestrator has a session of its own. Let all of them read AWS's long descriptions of its services once.
botocore.session.create_loader = cache(create_loader)

# How fast a machine is decides no test: two busy cores make any example slow.
settings.register_profile(
    "any machine", deadline=None, max_examples=max(40, examples(100)), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

TESTS = Path(__file__).parent
LONGEST = (
    "e2e/test_resume.py",
    "demo/test_demo.py",
    "test_containers.py",
    "runs",
    "e2e",
    "demo",
    "test_readme.py",
    "localcloud",
    "catalog/test_candidates.py",
    "planner",
)
"""The files and folders that take longest, the longest first."""


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let each worker of a whole run begin elsewhere: what one has rewritten for pytest, the others only read."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or [Path(each).resolve() for each in session.config.args] != [TESTS]:
        return
    files = sorted(TESTS.rglob("test_*.py"))
    first = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for file in (*files[first:], *files[:first]):
        with suppress(Exception, pytest.skip.Exception):  # collecting it will tell why it cannot be imported
            import_module(".".join(file.relative_to(TESTS.parent).with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest, so that all workers end at about the same time."""
    gc.freeze()
    items.sort(key=lambda item: _place(item.path.relative_to(TESTS).as_posix()))


def _place(file: str) -> int:
    places = (n for n, long in enumerate(LONGEST) if file == long or file.startswith(f"{long}/"))
    return next(places, len(LONGEST))
