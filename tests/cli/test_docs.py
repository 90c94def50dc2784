from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_commands_is_current() -> None:
    page = runpy.run_path(str(DOCS / "write_cli.py"))["page"]()
    assert page == (DOCS / "cli.md").read_text(encoding="utf-8"), "python docs/write_cli.py writes it anew"
