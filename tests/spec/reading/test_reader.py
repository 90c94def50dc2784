"""Every mistake in a sweep file is one line: what, where, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import SpecError
from orchestrator.spec.reading.reader import find_place, read

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.spec.sweep import Sweep

GOOD = """\
name: grid
train:
  entry_point: train.py
  source: code
  image: registry/steering:1
  metrics: {loss: 'loss=([0-9.]+)'}
space:
  lr: [1e-4, 1e-3]
  epochs: {range: [1, 5], step: 2}
where:
  instance_types: [ml.g5.xlarge]
objective: {minimize: loss}
runtime: 0.4 * epochs
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").touch()
    return tmp_path


def complaint(folder: Path, text: str | bytes) -> str:
    """What reading says, without the file's folder."""
    path = folder / "sweep.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SpecError) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{folder}/", "")


def test_a_good_file_is_read_with_its_folder(folder: Path) -> None:
    path = folder / "sweep.yaml"
    path.write_text(GOOD)
    sweep = read(path)
    assert sweep.folder == folder.resolve()
    assert [sweep.points.point(n) for n in (0, 1)] == [{"lr": 0.0001, "epochs": 1}, {"lr": 0.001, "epochs": 1}]


def test_a_byte_order_mark_is_no_part_of_the_text(folder: Path) -> None:
    path = folder / "sweep.yaml"
    path.write_text(GOOD, encoding="utf-8-sig")
    assert read(path).name == "grid"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("  source: code", "  sorce: code", "sweep.yaml:4:3: unknown key 'sorce' (did you mean 'source'?)"),
        ("step: 2", "stp: 2", "sweep.yaml:9:27: unknown key 'stp' (did you mean 'step'?)"),
        ("runtime:", "folder: x\nruntime:", "sweep.yaml:13:1: unknown key 'folder'"),
        ("where:", "where:\n  named_types: [x]", "sweep.yaml:11:3: unknown key 'named_types'"),
        ("name: grid", "name: grid\nname: other", "sweep.yaml:2:1: the key 'name' comes twice (keep one)"),
        ("name: grid", "data: {}", "sweep.yaml:1:1: name is missing"),
        ("  source: code\n", "", "sweep.yaml:3:16: train.source is missing"),
        ("name: grid", "name: 12", "sweep.yaml:1:7: name: expected text, got 12 (put it in quotes)"),
        ("image: registry/steering:1", "framework: {name: pytorch, version: 2.10}", "sweep.yaml:5:39: train.framework"),
        ("runtime:", "retries: many\nruntime:", "sweep.yaml:13:10: retries: should be a valid integer, got 'many'"),
        ("runtime:", "retries: true\nruntime:", "sweep.yaml:13:10: retries: should be a valid integer, got true"),
        (
            "  image:",
            "  processes_per_instance: two\n  image:",
            "sweep.yaml:5:27: expected a number of processes or auto",
        ),
        ("[ml.g5.xlarge]", "[]", "sweep.yaml:11:19: where.instance_types: there is nothing in it (name at least one)"),
        (
            "instance_types: [ml.g5.xlarge]",
            "instance_types: [ml.g5.xlarge]\n  platforms: []",
            "sweep.yaml:12:14: where.platforms: there is nothing in it (name at least one; ",
        ),
        (
            "instance_types: [ml.g5.xlarge]",
            "regions: []",
            "sweep.yaml:11:3: where: neither instance_types nor resources",
        ),
        (
            "instance_types: [ml.g5.xlarge]",
            "resources: {memory: 64gb}",
            "sweep.yaml:11:23: not a size of memory: '64gb' (write it like 64GB or 64GiB)",
        ),
        (
            "instance_types: [ml.g5.xlarge]",
            "resources: {gpu_memory: 16}",
            "sweep.yaml:11:27: expected a size of memory, got 16 (write it like 64GB or 64GiB)",
        ),
        (
            "instance_types: [ml.g5.xlarge]",
            "resources: {}",
            "sweep.yaml:11:14: where.resources: there is nothing in it",
        ),
        (
            "instance_types: [ml.g5.xlarge]",
            "resources: {gpu_mem: 1GB}",
            "sweep.yaml:11:15: unknown key 'gpu_mem' (did you mean 'gpu_memory'?)",
        ),
        (
            "  image:",
            "  instances: [1, two]\n  image:",
            "sweep.yaml:5:18: expected a number of instances from 1 on, got 'two'",
        ),
        (
            "0.4 * epochs",
            "0.4 * epochs / instance",
            "sweep.yaml:13:25: unknown name 'instance' in the runtime (did you mean 'instances'?)",
        ),
        (
            "runtime:",
            "platforms: {sagemaker: 3}\nruntime:",
            "sweep.yaml:13:24: platforms.sagemaker: expected a mapping",
        ),
        ("runtime:", "retries: 11\nruntime:", "sweep.yaml:13:10: retries: should be less than or equal to 10, got 11"),
        ("runtime:", "data:\nruntime:", "sweep.yaml:13:6: data: expected a mapping, got nothing"),
        ("[1e-4, 1e-3]", "[]", "sweep.yaml:8:7: the list is empty (an axis needs at least one value)"),
        ("[1e-4, 1e-3]", "{range: [1, 0]}", "sweep.yaml:8:7: the range from 1 to 0 in steps of 1 is empty"),
        ("[1e-4, 1e-3]", "[1e-4, .nan]", "sweep.yaml:8:14: nan is not a finite number"),
        ("[1e-4, 1e-3]", "[1e-4, [1]]", "sweep.yaml:8:14: expected a number, text or true/false, got a list"),
        (
            "[1e-4, 1e-3]",
            "{rnge: [1, 2]}",
            "sweep.yaml:8:7: space.lr is not an axis of the space (a list, bool, {range",
        ),
        ("[1e-4, 1e-3]", "{zip: {a: 3}}", "sweep.yaml:8:17: space.lr.zip.a is not an axis of the space"),
        ("lr: [", "bad name: [", "sweep.yaml:8:13: 'bad name' cannot name a parameter"),
        (
            "0.4 * epochs",
            "0.4 * epoch",
            "sweep.yaml:13:16: unknown name 'epoch' in the runtime (did you mean 'epochs'?)",
        ),
        ("0.4 * epochs", "'0.4 * epoch'", "sweep.yaml:13:17: unknown name 'epoch' in the runtime"),
        ("0.4 * epochs", "0.4 * (epochs", "sweep.yaml:13:16: not an expression: '0.4 * (epochs'"),
        ("0.4 * epochs", "-1", "sweep.yaml:13:10: a runtime of -1 hours is not above 0"),
        ("0.4 * epochs", "1e-320", "sweep.yaml:13:10: a runtime of 1e-320 hours cannot be meant (from 1e-06 to"),
        ("0.4 * epochs", "1e300", "sweep.yaml:13:10: a runtime of 1e+300 hours cannot be meant (from 1e-06 to"),
        ("minimize: loss", "minimize: los", "sweep.yaml:12:23: 'los' is not a metric of train.metrics (did you mean"),
        ("([0-9.]+)", "[0-9.]+", "sweep.yaml:6:19: the regex has 0 groups, not one (put one pair of parentheses"),
        ("([0-9.]+)", "(", "sweep.yaml:6:19: not a regular expression: missing ), unterminated subpattern"),
        (
            "  image:",
            "  parallel: torchran\n  image:",
            "sweep.yaml:5:13: train.parallel: unknown 'torchran' (did you mean",
        ),
        (
            "  image:",
            "  parallel: [mpi]\n  image:",
            "sweep.yaml:5:13: train.parallel: expected one word, got a list (choose from: single, mpi,",
        ),
        (
            "  image:",
            "  parallel: MPI\n  image:",
            "sweep.yaml:5:13: train.parallel: unknown 'MPI' (did you mean 'mpi'?)",
        ),
        (
            "  image:",
            "  framework: {name: pytorch, version: latest}\n  image:",
            "sweep.yaml:5:39: train.framework.version cannot be 'latest' (such as 2.8.0",
        ),
        ("runtime:", "timeout: 29d\nruntime:", "sweep.yaml:13:10: 29d is not between 1m and 28d"),
        ("runtime:", "timeout: 3600\nruntime:", "sweep.yaml:13:10: expected a duration, got 3600 (write it like 90m"),
        ("runtime:", "data: {recorded_from: 2026-13-01}\nruntime:", "sweep.yaml:13:23: data.recorded_from: "),
        ("code", "kode", "sweep.yaml:4:11: no folder kode"),
        ("train.py", "trian.py", "sweep.yaml:3:16: no file trian.py in code"),
        ("runtime:", "\truntime:", "sweep.yaml:13:1: not YAML: found character '\\t' that cannot start any token"),
        ("runtime:", "a: &a [*a]\nruntime:", "sweep.yaml:13:4: an alias inside what it stands for"),
        ("runtime:", "? [a]\n: 1\nruntime:", "sweep.yaml:13:3: a key must be a word"),
        (
            "runtime:",
            "a: !!python/object:os.system x\nb: !custom x\nruntime:",
            "sweep.yaml:14:4: the tag !custom means nothing",
        ),
        ("name: grid", "name: \x01", "sweep.yaml:1:7: the character U+0001 cannot stand in YAML"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(folder: Path, before: str, after: str, said: str) -> None:
    assert before in GOOD
    assert complaint(folder, GOOD.replace(before, after, 1)).startswith(said)


@dataclass(frozen=True)
class Complaint:
    message: str
    hint: str
    at: tuple[str | int, ...]


@pytest.mark.parametrize(
    ("at", "where"),
    [
        (("where", "instance_types", 0), "11:20"),
        (("train", "image"), "5:10"),
        (("train", "environment", "HOME"), "3:3"),
        (("space", "lr", 1), "8:14"),
        (("space", "epochs", "range", 0), "9:20"),
        ((), "1:1"),
    ],
)
def test_what_others_complain_of_is_told_with_its_place(folder: Path, at: tuple[str | int, ...], where: str) -> None:
    (folder / "sweep.yaml").write_text(GOOD)
    with pytest.raises(SpecError) as caught:
        read(folder / "sweep.yaml", check=lambda _: [Complaint("this cannot be", "leave it out", at)])
    assert str(caught.value) == f"{folder}/sweep.yaml:{where}: this cannot be (leave it out)"


def test_a_key_that_a_platform_does_not_know_is_told_where_it_stands(folder: Path) -> None:
    (folder / "sweep.yaml").write_text(GOOD + "platforms:\n  sagemaker: {warm: 30m}\n")
    complaint = Complaint("unknown key 'warm'", "", ("platforms", "sagemaker", "warm"))
    with pytest.raises(SpecError, match=r"sweep.yaml:15:15: unknown key 'warm'$"):
        read(folder / "sweep.yaml", check=lambda _: [complaint])


def test_of_several_complaints_the_first_in_the_file_is_told(folder: Path) -> None:
    (folder / "sweep.yaml").write_text(GOOD)
    complaints = [Complaint("late", "", ("where",)), Complaint("early", "", ("train",)), Complaint("b", "", ("train",))]
    with pytest.raises(SpecError, match=r"sweep.yaml:3:3: early$"):
        read(folder / "sweep.yaml", check=lambda _: iter(complaints))


def test_whoever_checks_is_asked_once_about_a_sweep_that_is_right_otherwise(folder: Path) -> None:
    asked: list[Sweep] = []

    def check(sweep: Sweep) -> list[Complaint]:
        asked.append(sweep)
        return []

    (folder / "sweep.yaml").write_text(GOOD)
    assert asked == [read(folder / "sweep.yaml", check)]
    (folder / "sweep.yaml").write_text(GOOD.replace("name: grid", "name: 12"))
    with pytest.raises(SpecError):
        read(folder / "sweep.yaml", check)
    assert len(asked) == 1


def test_a_misspelt_key_is_told_before_the_key_that_it_makes_missing(folder: Path) -> None:
    assert "did you mean 'where'?" in complaint(folder, GOOD.replace("where:", "wehre:"))


def test_a_dependency_that_is_not_there_is_told_at_its_line(folder: Path) -> None:
    text = GOOD.replace("  source: code\n", "  source: code\n  dependencies: [code, ../nowhere]\n")
    assert text != GOOD
    assert "sweep.yaml:5:24: no file or folder" in complaint(folder, text)


def test_what_is_no_sweep_at_all_is_told(folder: Path) -> None:
    assert complaint(folder, "").startswith("sweep.yaml: the file is empty (`sweep init`")
    assert complaint(folder, "- a").startswith("sweep.yaml: expected keys such as `name:`, got a list")
    assert complaint(folder, b"name: \xff\xfe") == "sweep.yaml: not UTF-8 text: byte 6 is 0xff"
    assert complaint(folder, "[" * 2000) == "sweep.yaml: nested too deeply"


def test_a_missing_file_and_a_folder_are_told(folder: Path) -> None:
    with pytest.raises(SpecError, match=r"absent\.yaml: no such file \(`sweep init`"):
        read(folder / "absent.yaml")
    with pytest.raises(SpecError, match=r"code: this is a folder \(name the sweep file in it\)"):
        read(folder / "code")


def test_pytorchddp_is_taken_for_torchrun_and_said_so(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = folder / "sweep.yaml"
    path.write_text(GOOD.replace("  image:", "  parallel: pytorchddp\n  image:"))
    assert read(path).train.parallel == "torchrun"
    assert "sweep.yaml:5:13: pytorchddp is read as torchrun" in caplog.text


# Variables and secrets


def with_environment(text: str) -> str:
    return GOOD.replace("  image:", f"  environment:\n    WANDB_API_KEY: {text}\n  image:")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("hunter2", "6:20: WANDB_API_KEY sounds like a secret, which would be in every plan (write {ssm: /NAME} or"),
        ("{ssn: /a}", "6:20: train.environment.WANDB_API_KEY is no value of a variable (did you mean 'ssm'?)"),
        ("{ssm: /a, regoin: x}", "6:30: unknown key 'regoin' (did you mean 'region'?)"),
        ("{ssm: /a b}", "6:26: train.environment.WANDB_API_KEY.ssm cannot be '/a b' (/team/wandb)"),
        ("1", "6:20: train.environment.WANDB_API_KEY: expected text, got 1 (put it in quotes)"),
    ],
)
def test_what_is_wrong_with_a_variable_is_told_where_it_stands(folder: Path, value: str, said: str) -> None:
    assert complaint(folder, with_environment(value)).startswith(f"sweep.yaml:{said}")


# Code elsewhere


def test_a_source_with_a_name_that_no_folder_takes_is_told_where_it_stands(folder: Path) -> None:
    said = complaint(folder, GOOD.replace("source: code", f"source: {'x' * 5000}"))
    assert said == "sweep.yaml:4:11: cannot be looked for: File name too long"


@pytest.mark.parametrize("key", ["< lr", "<list>", "<<x", ""])
def test_an_unknown_key_may_look_like_anything(folder: Path, key: str) -> None:
    assert complaint(folder, f'{GOOD}"{key}": 1\n').startswith("sweep.yaml:")


def test_a_hundred_thousand_brackets_are_refused_at_once(folder: Path) -> None:
    assert complaint(folder, GOOD + "tags: " + "[" * 100_000) == "sweep.yaml: nested too deeply"


@pytest.mark.parametrize(
    ("key", "line"), [("train.image", "5:10"), ("space.lr.1", "8:14"), ("train.volumes", ""), ("eu-west-1 prod", "")]
)
def test_a_key_that_is_wrong_for_others_is_found_in_its_file(folder: Path, key: str, line: str) -> None:
    path = folder / "sweep.yaml"
    path.write_text(GOOD)
    assert find_place(key, path) == (f"{path}:{line}: {key}" if line else key)
    path.unlink()
    assert find_place(key, path) == key


@pytest.mark.parametrize("way", ["by its name", "by a link"])
def test_code_outside_the_sweeps_folder_has_to_be_meant(folder: Path, way: str) -> None:
    project = folder / "project"
    project.mkdir()
    source = "../code" if way == "by its name" else "code"
    if way == "by a link":
        (project / "code").symlink_to(folder / "code")
    path = project / "sweep.yaml"
    path.write_text(GOOD.replace("source: code", f"source: {source}"))
    with pytest.raises(SpecError) as caught:
        read(path)
    assert str(caught.value) == (
        f"{path}:4:11: {source} lies outside the sweep file's folder "
        "(say `source_outside: true` if that is meant: all of it is uploaded)"
    )
    path.write_text(GOOD.replace("source: code", f"source: {source}\n  source_outside: true"))
    assert read(path).source_folder.resolve() == (folder / "code").resolve()
