"""A training's checkpoints: what is torn is never loaded, and nothing that is whole is lost on the way."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from orchestrator.platforms.source import BARE, HELPERS
from orchestrator.training.checkpoint import EVERY, FOLDER, UNFINISHED, Checkpoints, standard_folder

ROOT = Path(__file__).parents[2]


def nothing(path: Path) -> None:
    """Neither write nor read."""


class Training:
    """A training that adds up the numbers of its steps, and saves when `Checkpoints` says so."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.total = 0
        self.done: list[int] = []
        settings = {"every_s": 0, "folder": folder, **settings}
        self.checkpoints = Checkpoints(self.save, self.load, **settings)  # type: ignore[arg-type]

    def save(self, path: Path) -> None:
        path.write_text(str(self.total))

    def load(self, path: Path) -> None:
        self.total = int(path.read_text())

    def run(self, steps: int, until: int | None = None) -> Training:
        """Train as far as `until`: there the training is lost, with the step under way."""
        for step in self.checkpoints.steps(steps):
            if step == until:
                return self
            self.total += step
            self.done.append(step)
        return self


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SM_HOSTS", "SM_CURRENT_HOST", EVERY):
        monkeypatch.delenv(name, raising=False)


def steps_kept(folder: Path) -> list[int]:
    return sorted(json.loads(label.read_text())["step"] for label in folder.glob("slot-*/label.json"))


def newest(folder: Path) -> Path:
    labels = {json.loads(label.read_text())["step"]: label.parent for label in folder.glob("slot-*/label.json")}
    return labels[max(labels)]


# Going on


def test_a_training_goes_on_after_the_last_step_that_was_saved(tmp_path: Path) -> None:
    Training(tmp_path).run(10, until=6)
    later = Training(tmp_path).run(10)
    assert later.done == [6, 7, 8, 9]
    assert later.total == sum(range(10))


def test_a_finished_training_has_nothing_left_to_do(tmp_path: Path) -> None:
    Training(tmp_path).run(10)
    again = Training(tmp_path).run(10)
    assert (again.done, again.total) == ([], 45)


def test_more_steps_than_last_time_go_on_from_there(tmp_path: Path) -> None:
    Training(tmp_path).run(3)
    assert Training(tmp_path).run(5).done == [3, 4]


def test_without_checkpoints_it_begins_at_the_beginning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Training(tmp_path / "not" / "there").run(2).done == [0, 1]
    assert capsys.readouterr().out == ""


def test_it_says_where_it_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Training(tmp_path).run(2)
    there = newest(tmp_path)
    Training(tmp_path).run(3)
    assert capsys.readouterr().out == f"checkpoint: goes on after step 2, from {there / 'state'}\n"


def test_a_framework_with_a_loop_of_its_own_calls_back(tmp_path: Path) -> None:
    first = Training(tmp_path).checkpoints
    assert first.resume() == 0
    first.reached(1)
    assert Training(tmp_path).checkpoints.resume() == 1


# What is kept


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_the_last_ones_are_kept(tmp_path: Path, keep: int) -> None:
    Training(tmp_path, keep=keep).run(7)
    assert steps_kept(tmp_path) == list(range(8 - keep, 8))


def test_keeping_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="keep is 0"):
        Training(tmp_path, keep=0)


def test_a_bucket_that_never_forgets_holds_one_more_than_is_kept(tmp_path: Path) -> None:
    """SageMaker copies every new file to S3, deletes none there, and brings them all back."""
    here, bucket = tmp_path / "here", tmp_path / "bucket"
    for stop in range(1, 20):
        if bucket.exists():
            copy(bucket, here)
        for step in Training(here, keep=2).checkpoints.steps(stop):
            assert step == stop - 1
        copy(here, bucket)
        subprocess.run(["rm", "-r", str(here)], check=True)
    assert len(list(bucket.iterdir())) == 3


def copy(source: Path, target: Path) -> None:
    for file in source.rglob("*"):
        if file.is_file():
            to = target / file.relative_to(source)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(file.read_bytes())


def test_a_checkpoint_may_be_a_folder_of_many_files(tmp_path: Path) -> None:
    def save(path: Path) -> None:
        (path / "shards").mkdir(parents=True)
        for number in range(3):
            (path / "shards" / f"{number}.bin").write_bytes(bytes([number]) * 100)

    def load(path: Path) -> None:
        loaded.extend(sorted(file.name for file in path.rglob("*.bin")))

    loaded: list[str] = []
    checkpoints = Checkpoints(save, load, folder=tmp_path)
    assert list(checkpoints.steps(1)) == [0]
    (tmp_path / "slot-0" / "state" / "shards" / "1.bin").write_bytes(b"x" * 100)
    assert checkpoints.resume() == 0
    assert list(checkpoints.steps(1)) == [0]
    assert checkpoints.resume() == 1
    assert loaded == ["0.bin", "1.bin", "2.bin"]


def test_a_save_that_writes_nothing_is_an_error(tmp_path: Path) -> None:
    checkpoints = Checkpoints(nothing, nothing, folder=tmp_path, every_s=0)
    with pytest.raises(RuntimeError, match="save wrote nothing"):
        list(checkpoints.steps(1))


# What is torn


def cut(slot: Path) -> None:
    (slot / "state").write_bytes((slot / "state").read_bytes()[:-1])


def flip(slot: Path) -> None:
    content = bytearray((slot / "state").read_bytes())
    content[0] ^= 1
    (slot / "state").write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (cut, "state has 1 bytes of 2"),
        (flip, "state does not match its checksum"),
        (lambda slot: (slot / "state").unlink(), "state is missing"),
        (lambda slot: (slot / "label.json").unlink(), "was cut short"),
        (lambda slot: (slot / "label.json").write_text('{"step": 5'), "was cut short"),
        (lambda slot: (slot / "label.json").write_text("[]"), "was cut short"),
    ],
)
def test_a_spoilt_checkpoint_is_skipped_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil: object, says: str
) -> None:
    Training(tmp_path).run(6, until=5)
    spoil(newest(tmp_path))  # type: ignore[operator]
    later = Training(tmp_path).run(6)
    assert (later.done, later.total) == ([4, 5], 15)
    assert says in capsys.readouterr().out
    assert Training(tmp_path).run(6).total == 15


def test_the_last_whole_one_is_not_given_up_for_a_new_one(tmp_path: Path) -> None:
    """Even when only one is kept, and the newest is spoilt: a save that dies half way leaves the older one."""
    Training(tmp_path, keep=2).run(6, until=4)
    cut(newest(tmp_path))

    def dies(path: Path) -> None:
        path.write_text("half")
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        list(Checkpoints(dies, nothing, folder=tmp_path, keep=1, every_s=0).steps(6))
    assert Training(tmp_path).run(6).done == [3, 4, 5]


def test_a_process_killed_at_any_moment_of_a_save_loses_that_save_at_most(tmp_path: Path) -> None:
    """Killed at each of its system calls in turn that change the disk."""
    script = """
    import os, sys, shutil
    from pathlib import Path
    from orchestrator.training.checkpoint import Checkpoints

    countdown = [int(sys.argv[2])]
    def dies(module, name):
        real = getattr(module, name)
        def call(*args, **kwargs):
            countdown[0] -= 1
            if countdown[0] < 0:
                os._exit(9)
            return real(*args, **kwargs)
        setattr(module, name, call)
    for module, name in ((os, "fsync"), (os, "replace"), (os, "rename"), (os, "mkdir"), (os, "unlink"), (os, "rmdir")):
        dies(module, name)
    save = lambda path: path.write_bytes(b"x" * 5000 + str(step).encode())
    checkpoints = Checkpoints(save, lambda path: None, folder=sys.argv[1], keep=1, every_s=0)
    for step in checkpoints.steps(6):
        pass
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(script))
    finished, reached = False, 0
    folder = tmp_path / "checkpoints"
    for allowed in range(3, 60):
        command = [sys.executable, str(tmp_path / "script.py"), str(folder), str(allowed)]
        code = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, env=environment()).returncode
        assert code in (0, 9)
        seen: list[int] = []
        done = Checkpoints(nothing, lambda path, seen=seen: seen.append(path.stat().st_size), folder=folder)
        step = done.resume()
        assert step >= reached
        assert seen == ([5001] if step else [])
        reached, finished = step, code == 0
        if finished:
            break
    assert finished
    assert reached == 6


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


# When


def test_it_saves_when_it_is_time_and_after_the_last_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("orchestrator.training.checkpoint.time.monotonic", lambda: now[0])
    saved: list[float] = []

    def save(path: Path) -> None:
        saved.append(now[0])
        path.write_text("")

    for _ in Checkpoints(save, nothing, folder=tmp_path, every_s=60).steps(8):
        now[0] += 25
    assert saved == [75, 150, 200]


def test_how_often_is_what_the_sweep_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(EVERY, "0")
    Training(tmp_path, every_s=None).run(5, until=3)
    assert steps_kept(tmp_path) == [1, 2, 3]


def test_checkpoints_lie_where_sagemaker_looks_for_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAGEMAKER_BASE_DIR", str(tmp_path))
    assert standard_folder() == tmp_path / "checkpoints"
    monkeypatch.setenv("SAGEMAKER_BASE_DIR", str(tmp_path / "nowhere"))
    assert standard_folder() == Path("checkpoints")
    monkeypatch.setenv(FOLDER, "/var/saved")
    assert standard_folder() == Path("/var/saved")


# Ranks


@pytest.mark.parametrize(
    "variables",
    [
        {"RANK": "1"},
        {"OMPI_COMM_WORLD_RANK": "3"},
        {"SM_HOSTS": '["algo-1", "algo-2"]', "SM_CURRENT_HOST": "algo-2"},
    ],
)
def test_other_ranks_load_but_never_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    Training(tmp_path).run(3)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    other = Training(tmp_path).run(5)
    assert (other.done, other.total) == ([3, 4], 10)
    assert steps_kept(tmp_path) == [1, 2, 3]
    assert capsys.readouterr().out == ""


# Being asked to leave


def test_sigterm_saves_the_step_under_way_and_leaves_unfinished(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    training = Training(tmp_path, every_s=3600)

    def train() -> None:
        for step in training.checkpoints.steps(10):
            if step == 4:
                os.kill(os.getpid(), signal.SIGTERM)
            training.total += step

    with pytest.raises(SystemExit) as left:
        train()
    assert left.value.code == UNFINISHED
    assert steps_kept(tmp_path) == [5]
    assert signal.getsignal(signal.SIGTERM) == before
    assert Training(tmp_path).run(10).total == 45


def test_sigterm_in_the_last_step_lets_the_training_end(tmp_path: Path) -> None:
    training = Training(tmp_path, every_s=3600)
    for step in training.checkpoints.steps(3):
        if step == 2:
            os.kill(os.getpid(), signal.SIGTERM)
    assert steps_kept(tmp_path) == [3]


def test_other_ranks_wait_for_rank_0_to_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    training = Training(tmp_path)
    for step in training.checkpoints.steps(3):
        os.kill(os.getpid(), signal.SIGTERM)
        training.done.append(step)
    assert training.done == [0, 1, 2]


# In any image


@pytest.mark.parametrize("file", dict.fromkeys((*HELPERS, *BARE)), ids=str)
def test_what_travels_into_a_training_is_read_by_an_old_python_too(file: Path) -> None:
    """AWS's images of the last years have Python 3.8 and up, where `str | None` may be written but not evaluated."""
    text = (ROOT / file).read_text(encoding="utf-8")
    _, *code = ast.parse(text, feature_version=(3, 8)).body
    assert not code or "from __future__ import annotations" in text


def test_what_travels_into_a_training_needs_the_standard_library_only() -> None:
    code = (
        "import sys; from orchestrator import Checkpoints, report; print(*{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= sys.stdlib_module_names | {"orchestrator", "__main__"}
