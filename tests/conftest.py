"""Fixtures shared between rooms live in tests/fixtures, a file per concern."""

from __future__ import annotations

import signal

pytest_plugins = ["tests.fixtures.cloud", "tests.fixtures.toolkit", "tests.fixtures.team", "tests.fixtures.database"]

# Whoever runs us in the background may have us ignore Ctrl-C, and what we start would inherit that: tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)
