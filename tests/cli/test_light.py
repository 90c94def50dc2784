"""What a quick look loads: most of its time would be imports. The modules are counted, not the seconds."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from orchestrator.db.database import Database
from orchestrator.runs.known.ledger import Ledger
from orchestrator.runs.written.anchor import Anchor
from orchestrator.runs.written.submission import everything
from tests.runs.bench import ACCOUNT, plan

if TYPE_CHECKING:
    from pathlib import Path

ALWAYS_HEAVY = {"alembic", "boto3", "botocore", "highspy", "moto", "numpy", "pandas", "rich", "sqlalchemy", "yaml"}
SCRIPT = """\
import sys
from orchestrator.cli.app import main
assert main(sys.argv[1:]) == 0
print(*sys.modules, file=sys.stderr)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with settings and a database that knows one run."""
    database = Database(f"sqlite:///{tmp_path / 'sweep.db'}")
    anchor = Anchor("nightly", plan(tasks=3), "code", "ada", 1e9, ACCOUNT.home)
    ledger = Ledger(database)
    ledger.remember(anchor, ACCOUNT)
    ledger.expect(anchor.name, everything(anchor.plan))
    database.engine.dispose()
    settings = f'bucket = "{ACCOUNT.bucket}"\ndatabase = "sqlite:///sweep.db"\n'
    (tmp_path / "sweep.toml").write_text(settings, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "heavy"),
    [
        ("status nightly --no-sync", {"orchestrator.spec.sweep", "orchestrator.runs.cloud"}),
        ("runs", {"orchestrator.spec.sweep", "orchestrator.runs.cloud"}),
        ("results nightly --no-sync", {"orchestrator.chart", "orchestrator.runs.cloud"}),
    ],
)
def test_what_the_database_knows_is_shown_without_what_is_slow_to_load(
    home: Path, command: str, heavy: set[str]
) -> None:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("SWEEP_")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *command.split()],
        cwd=home,
        env=variables | {"XDG_CONFIG_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "nightly" in done.stdout or "alps@1" in done.stdout
    loaded = set(done.stderr.split())
    assert loaded & (ALWAYS_HEAVY | heavy) == set()
    others = {name for name in loaded if name.startswith("orchestrator.cli.commands.") and name.count(".") == 4}
    assert others == {f"orchestrator.cli.commands.runs.{command.split()[0]}"}
