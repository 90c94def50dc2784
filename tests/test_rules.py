"""The platforms that the settings set up, and what they refuse of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from orchestrator.errors import SettingsError, SpecError, UsageError
from orchestrator.platforms.base import Complaint
from orchestrator.rules import Rules, read_sweep
from orchestrator.settings.settings import Settings
from orchestrator.settings.settings import read as read_settings
from orchestrator.spec.model import Model
from orchestrator.wire.shapes import Chip, Shape
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.task import Lane

SWEEP = """
name: grid
train: {source: ., entry_point: train.py, image: mine:1}
where:
  platforms: %s
  instance_types: [ml.g5.xlarge]
runtime: 1
"""


class Asks(Model):
    colour: str = ""


class Picky:
    """A platform that wants no sweep called grid, and takes one setting; a sweep may ask it for a colour."""

    asks = Asks
    shapes: ClassVar = {"picky.desk": Shape(vcpus=16, memory_gib=64, chip=Chip("RTX 4090", 2, 24))}

    def __init__(self, settings: dict[str, Any]) -> None:
        if settings.keys() - {"room"}:
            raise SettingsError("unknown setting 'rom'", hint="did you mean 'room'?")

    def refuses(self, lane: Lane) -> str:
        return "" if lane.instance_type.startswith(("ml.", "picky.")) else "it is too easy"

    def check(self, sweep: Sweep) -> Iterator[Complaint]:
        if sweep.name == "grid":
            yield Complaint("no grids here", "call it otherwise", ("name",))


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.platforms.registry.platforms", lambda: ("easy", "picky"))

    def make(name: str, settings: dict[str, Any]) -> Any:
        if name not in ("easy", "picky"):
            raise UsageError(f"no platform {name!r} is installed")
        easy = {"check": lambda *_: iter(()), "refuses": lambda *_: "", "shapes": {}}
        return type("Easy", (), easy)() if name == "easy" else Picky(settings)

    monkeypatch.setattr("orchestrator.platforms.registry.make_planning", make)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text("")
    return tmp_path / "sweep.yaml"


def test_without_any_table_a_sweep_goes_to_the_default_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.platforms.registry.DEFAULT", "easy")
    assert Rules(Settings()).usual == ("easy",)
    assert list(Rules(Settings()).complaints(make_sweep())) == []


def test_platforms_with_a_table_are_those_of_a_sweep_that_names_none() -> None:
    rules = Rules(Settings(platforms={"picky": {}, "easy": {}}))
    assert rules.usual == ("easy", "picky")
    with pytest.raises(SpecError, match=r"^name: no grids here \(call it otherwise\)$"):
        rules.check(make_sweep(name="grid"))
    rules.check(make_sweep(name="grid", where__platforms=["easy"]))


def test_what_a_platform_cannot_do_is_told_where_it_stands(file: Path) -> None:
    file.write_text(SWEEP % "[picky]")
    with pytest.raises(SpecError) as error:
        read_sweep(file, Settings())
    assert str(error.value) == f"{file}:2:7: no grids here (call it otherwise)"
    file.write_text(SWEEP % "[easy]")
    assert read_sweep(file, Settings()).name == "grid"


def test_a_platform_that_nobody_installed_is_told_where_it_stands(file: Path) -> None:
    file.write_text(SWEEP % "[easy, piky]")
    with pytest.raises(SpecError) as error:
        read_sweep(file, Settings())
    assert str(error.value) == f"{file}:5:21: no platform 'piky' is installed (did you mean 'picky'?)"


def test_a_type_that_no_platform_of_the_sweep_has_is_told_where_it_stands(file: Path) -> None:
    for platforms in ("[picky]", "[picky, easy]"):
        file.write_text((SWEEP % platforms).replace("grid", "wide").replace("[ml.g5.xlarge]", "[ml.g5.xlarge, p4d]"))
        if "easy" in platforms:
            assert read_sweep(file, Settings()).name == "wide"
            continue
        with pytest.raises(SpecError) as error:
            read_sweep(file, Settings())
        says = "p4d is no instance type of picky: it is too easy (name their types, or another platform under "
        assert str(error.value).startswith(f"{file}:6:34: {says}")


def test_what_is_wrong_in_a_platform_s_table_is_told_with_the_file_s_name(tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text("[platforms.picky]\nrom = 1")
    with pytest.raises(SettingsError) as error:
        Rules(read_settings(folder=tmp_path, environ={})).all()
    assert str(error.value) == f"{tmp_path.resolve()}/sweep.toml: unknown setting 'rom' (did you mean 'room'?)"


def test_what_a_sweep_asks_of_a_platform_that_it_does_not_use_is_checked_too(file: Path) -> None:
    file.write_text(SWEEP % "[easy]" + "platforms: {picky: {color: red}}\n")
    with pytest.raises(SpecError) as error:
        read_sweep(file, Settings())
    assert str(error.value) == f"{file}:8:21: unknown key 'color' (did you mean 'colour'?)"
    file.write_text(SWEEP % "[easy]" + "platforms: {picky: {colour: red}}\n")
    assert read_sweep(file, Settings()).name == "grid"


@pytest.mark.parametrize(
    ("where", "runtime", "said"),
    [
        ("{resources: {gpu: [L4, RTX 4090]}}", "1", "5:31: no GPU is known as 'RTX 4090' (did you mean 'RTX "),
        ("{resources: {gpus: 2}}", "{picky.desk: 1}", "6:23: picky.desk has not what where.resources asks for (leave "),
        (
            "{resources: {gpus: 2}, instance_types: [picky.desk]}",
            "1",
            "5:20: none of the instance types has gpus: 2 (ask for less, or leave out one of ",
        ),
    ],
)
def test_types_that_only_a_platform_knows_are_known_to_sweeps_that_use_it(
    tmp_path: Path, where: str, runtime: str, said: str
) -> None:
    (tmp_path / "train.py").touch()
    file = tmp_path / "sweep.yaml"
    text = "name: by-need\ntrain: {source: ., entry_point: train.py, image: mine:1}\n\n\nwhere: %s\nruntime: %s\n"
    file.write_text(text % (where.replace("{", "{platforms: [picky], ", 1), runtime))
    assert read_sweep(file, Settings()).where.resources is not None
    file.write_text(text % (where, runtime))
    with pytest.raises(SpecError) as caught:
        read_sweep(file, Settings(platforms={"easy": {}}))
    assert said in str(caught.value)


def test_an_image_of_a_line_needs_a_platform_that_runs_each_task_in_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = make_sweep(name="other", where__platforms=["picky"])
    with pytest.raises(SpecError, match="image own/x:1: picky runs all tasks of a run in one image"):
        Rules(Settings()).check_images(asked, ["own/x:1"])
    monkeypatch.setattr(Picky, "line_images", True, raising=False)
    Rules(Settings()).check_images(asked, ["own/x:1"])


def test_an_image_of_a_line_is_held_against_the_rules_of_the_sweep_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Picky, "line_images", True, raising=False)
    asked = make_sweep(name="grid", where__platforms=["picky"])
    with pytest.raises(SpecError, match="image own/x:1 of the manifest: no grids here"):
        Rules(Settings()).check_images(asked, ["own/x:1"])


def test_launchers_are_counted_where_the_settings_tell_of_their_account(tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text("[infra]\nregions = ['us-east-1']\n")
    assert Rules(read_settings(folder=tmp_path, environ={})).launchers_at_once == 256
    (tmp_path / "sweep.toml").write_text("[infra]\nmax_vcpus = 16\n")
    assert Rules(read_settings(folder=tmp_path, environ={})).launchers_at_once == 64
    (tmp_path / "sweep.toml").write_text("owner = 'me'\n")
    assert Rules(read_settings(folder=tmp_path, environ={})).launchers_at_once is None


def test_a_table_of_the_settings_for_a_platform_that_nobody_installed_is_told(tmp_path: Path) -> None:
    """What stands in it would be ignored, and the sweep would run otherwise than was meant."""
    file = tmp_path / "sweep.toml"
    file.write_text("[platforms.picki]\n")
    (tmp_path / "sweep.yaml").write_text(SWEEP % "[easy]")
    with pytest.raises(SettingsError) as caught:
        read_sweep(tmp_path / "sweep.yaml", read_settings(folder=tmp_path))
    assert caught.value.where == f"{file}: platforms.picki"
    assert (caught.value.message, caught.value.hint) == (
        "no platform 'picki' is installed",
        "did you mean 'picky'?",
    )
