"""Fixtures shared between rooms live in tests/fixtures, a file per concern."""

pytest_plugins = ["tests.fixtures.cloud", "tests.fixtures.team", "tests.fixtures.database"]
