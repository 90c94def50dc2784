"""What docs/budgets-and-notices.md shows is what is sent, and what it tells to write can be written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

from orchestrator.notices.notice import FINISHED, KINDS, Notice
from orchestrator.notices.webhook import sign
from orchestrator.settings.settings import read
from tests.fixtures.sweeps import make_sweep

PAGE = (Path(__file__).parents[2] / "docs" / "budgets-and-notices.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_payload_is_shown_as_it_is_sent() -> None:
    (shown,) = map(json.loads, blocks("json"))
    at = shown["at"]
    sent = Notice(FINISHED, ("nightly", "1"), shown["text"], at, "steering", "nightly", shown["facts"]).payload()
    assert {**sent, "id": ""} == {**shown, "id": ""}
    assert len(sent["id"]) == len(shown["id"])


def test_the_page_s_function_knows_our_signatures() -> None:
    names: dict[str, Any] = {}
    exec(blocks("python")[0], names)
    assert names["is_ours"](sign(b"{}", "s3cret", 1795000000), b"{}", "s3cret")
    assert not names["is_ours"](sign(b"{}", "s3cret", 1795000000), b"{ }", "s3cret")


def test_the_settings_and_the_parts_of_a_sweep_file_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text("\n".join(blocks("toml")))
    settings = read(folder=tmp_path, environ={})
    assert (len(settings.notify), settings.owner_budget) == (2, 10_000.0)
    for part in blocks("yaml"):
        make_sweep(**yaml.safe_load(part))


def test_the_page_tells_of_every_kind() -> None:
    assert [kind for kind in KINDS if f"`{kind}`" not in PAGE] == []
