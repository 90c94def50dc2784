"""sweep.toml learns what was made, and nothing of what stands there is lost."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import SettingsError
from orchestrator.infra.fill import fill

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Mapping

VALUES = {"region": "us-east-1", "bucket": "made", "queue": "sweep-tasks"}
REGIONS = ["us-east-1", "eu-west-1"]


def filled(tmp_path: Path, text: str, regions: list[str] = REGIONS) -> tuple[dict[str, Any], str, Any]:
    file = tmp_path / "sweep.toml"
    file.write_text(text)
    told = fill(file, VALUES, regions)
    return tomllib.loads(file.read_text()), file.read_text(), told


def test_a_file_that_is_not_there_is_made(tmp_path: Path) -> None:
    told = fill(tmp_path / "sweep.toml", VALUES, REGIONS)
    assert tomllib.loads((tmp_path / "sweep.toml").read_text()) == {**VALUES, "infra": {"regions": REGIONS}}
    assert told.written == {**VALUES, "infra.regions": REGIONS}


def test_what_stands_there_stays_and_is_told_where_it_differs(tmp_path: Path) -> None:
    read, text, told = filled(tmp_path, 'bucket = "mine"  # ours since 2019\nqueue = "sweep-tasks"\n')
    assert read == {**VALUES, "bucket": "mine", "infra": {"regions": REGIONS}}
    assert 'bucket = "mine"  # ours since 2019' in text
    assert told.kept == {"bucket": "mine"}
    assert set(told.written) == {"region", "infra.regions"}


def test_settings_go_before_the_first_table_and_its_comment(tmp_path: Path) -> None:
    read, text, _ = filled(tmp_path, "# mine\n\n# networks\n[platforms.trial]\nroom = 1\n")
    assert read["platforms"] == {"trial": {"room": 1}}
    assert "# networks\n[platforms.trial]" in text


def test_regions_are_replaced_and_their_comment_stays(tmp_path: Path) -> None:
    read, text, told = filled(
        tmp_path, '[infra]\nmax_vcpus = 8\nregions = ["eu-west-1"]  # near the data\n[platforms.a]\n'
    )
    assert read["infra"] == {"max_vcpus": 8, "regions": REGIONS}
    assert "# near the data" in text
    assert told.written["infra.regions"] == REGIONS


def test_twice_changes_nothing(tmp_path: Path) -> None:
    _, text, _ = filled(tmp_path, "# mine\n")
    _, again, told = filled(tmp_path, text)
    assert (again, told.written, told.kept) == (text, {}, {})


def test_a_table_that_is_not_understood_is_left_alone_with_what_to_write(tmp_path: Path) -> None:
    text = "infra = {max_vcpus = 8}\n"
    with pytest.raises(SettingsError, match=r"write `regions = ") as error:
        filled(tmp_path, text)
    assert (tmp_path / "sweep.toml").read_text() == text
    assert "bucket" in str(error.value)


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"sweep\.toml: not TOML"):
        filled(tmp_path, "queue = sweep\n")


WORDS = "ab[]{}#='\"\\ é🦊"
NAMES = st.sampled_from(["bucket", "queue", "owner", "database", "log_group"])
LINES = st.one_of(
    st.text(WORDS, max_size=20).map(lambda text: f"# {text}"),
    st.just(""),
    st.just("   # [infra]"),
)
TABLES = st.sampled_from(
    [
        "[platforms.trial]\nbucket = 'other'",
        '[ infra ] # given\nmax_vcpus = 8\nsubnets = ["subnet-0a0a0a0a",\n  "subnet-0b0b0b0b"]',
        '[infra]\nregions = ["x"] # here',
        '[platforms.a.vpc.eu-west-1]\nsubnets = ["[x]"]',
    ]
)


@given(
    settings=st.dictionaries(NAMES, st.text(WORDS, max_size=12), max_size=4),
    comments=st.lists(LINES, max_size=4),
    tables=st.lists(TABLES, max_size=3, unique_by=lambda table: "infra" in table or table),
    regions=st.lists(st.sampled_from(["us-east-1", "eu-west-1", "eu-north-1"]), min_size=1, unique=True),
)
def test_a_file_in_any_shape_says_all_that_it_said_and_what_was_made(
    settings: Mapping[str, str], comments: list[str], tables: list[str], regions: list[str]
) -> None:
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in settings.items()]
    text = "\n".join([*comments, *lines, *tables])
    before = tomllib.loads(text)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "sweep.toml"
        file.write_text(text, encoding="utf-8", newline="")
        fill(file, VALUES, regions)
        after, comments_after = tomllib.loads(file.read_text(encoding="utf-8")), file.read_text(encoding="utf-8")
    infra = {**before.get("infra", {}), "regions": regions}
    assert after == {**VALUES, **before, "infra": infra}
    assert all(comment in comments_after for comment in comments)
