"""What a training reports: one line that can be read again, and the same numbers to the trackers that are set up."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator import report
from orchestrator.training import report as module

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin each test as a new process does: it has said nothing yet, and given nobody up."""
    for name in ("_begun", "_given_up", "_said"):
        monkeypatch.setattr(module, name, type(getattr(module, name))())
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "SM_HOSTS", "MLFLOW_TRACKING_URI", "WANDB_API_KEY", "WANDB_MODE"):
        monkeypatch.delenv(name, raising=False)


def test_a_report_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    report(step=3, loss=0.25, accuracy=0.9)
    assert capfd.readouterr().out == "[sweep] step=3 loss=0.25 accuracy=0.9\n"


def test_it_is_the_function_however_the_module_came_in() -> None:
    import orchestrator.training.report

    assert orchestrator.report is report
    assert callable(orchestrator.report)


def test_a_report_without_a_step(capfd: pytest.CaptureFixture[str]) -> None:
    report(loss=1)
    assert capfd.readouterr().out == "[sweep] loss=1\n"


class Tensor:
    """A tensor of one element, as numpy's and PyTorch's are."""

    def __float__(self) -> float:
        return 0.125


@pytest.mark.parametrize(
    ("value", "shown"),
    [(Tensor(), "0.125"), (True, "1"), (1e-9, "1e-09"), (123456789.0, "123456789"), (math.nan, "nan"), ("2", "2")],
)
def test_whatever_is_a_number_is_reported_as_one(value: Any, shown: str, capfd: pytest.CaptureFixture[str]) -> None:
    report(loss=value)
    assert capfd.readouterr().out == f"[sweep] loss={shown}\n"


def test_what_is_no_number_is_left_out_and_said_once(capfd: pytest.CaptureFixture[str]) -> None:
    for step in (1, 2):
        report(step=step, loss=0.5, note="great", nothing=None)  # type: ignore[arg-type]
    lines = capfd.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("[sweep]")] == [f"[sweep] step={n} loss=0.5" for n in (1, 2)]
    assert [line for line in lines if "note" in line] == ["report: note is not a number and is left out"]


def test_names_are_made_fit_for_a_line(capfd: pytest.CaptureFixture[str]) -> None:
    report(**{"val loss": 1, "a=b": 2, "train/loss": 3})
    assert capfd.readouterr().out == "[sweep] val_loss=1 a_b=2 train/loss=3\n"


@pytest.mark.parametrize("variable", ["RANK", "OMPI_COMM_WORLD_RANK"])
def test_only_rank_0_reports(variable: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(variable, "1")
    report(loss=1)
    assert capfd.readouterr().out == ""
    monkeypatch.setenv(variable, "0")
    report(loss=1)
    assert capfd.readouterr().out == "[sweep] loss=1\n"


def test_a_line_is_in_the_log_at_once() -> None:
    """Before a training that is killed could have flushed anything."""
    code = "import os; from orchestrator import report; report(step=1, loss=2); os._exit(1)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "[sweep] step=1 loss=2\n"


def test_a_line_is_written_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """AWS's toolkit reads what there is and ends a line there: a line in two writes would be two lines of the log."""
    pieces: list[str] = []
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(write=pieces.append, flush=lambda: None))
    report(step=1, loss=2, accuracy=3)
    assert pieces == ["[sweep] step=1 loss=2 accuracy=3\n"]


# Trackers


class Tracker:
    """An MLflow that is installed; one that is `broken` raises an error at the first call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, broken: bool = False) -> None:
        self.logged: list[tuple[dict[str, float], int | None]] = []
        self.params: dict[str, Any] = {}
        self.broken = broken
        monkeypatch.setitem(sys.modules, "mlflow", self)  # type: ignore[arg-type]
        monkeypatch.setattr(module, "find_spec", lambda name: name == "mlflow")
        monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://mlflow")

    def active_run(self) -> None:
        if self.broken:
            raise ConnectionError("no route\nto host")

    def start_run(self, run_name: str | None) -> None:
        self.run_name = run_name

    def log_params(self, params: dict[str, Any]) -> None:
        self.params = params

    def log_metrics(self, values: dict[str, float], step: int | None) -> None:
        self.logged.append((values, step))


def test_metrics_go_to_a_tracker_that_is_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    tracker = Tracker(monkeypatch)
    monkeypatch.setenv("TRAINING_JOB_NAME", "nightly-7-1")
    monkeypatch.setenv("SM_HPS", '{"lr": 0.1}')
    report(step=1, loss=0.5)
    report(step=2, loss=0.25)
    assert tracker.logged == [({"loss": 0.5}, 1), ({"loss": 0.25}, 2)]
    assert (tracker.run_name, tracker.params) == ("nightly-7-1", {"lr": 0.1})


def test_a_tracker_that_is_not_set_up_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    tracker = Tracker(monkeypatch)
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    report(step=1, loss=0.5)
    assert tracker.logged == []


def test_a_tracker_that_is_not_installed_is_no_matter(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    monkeypatch.setenv("WANDB_MODE", "offline")
    report(step=1, loss=0.5)
    assert capfd.readouterr().out == "[sweep] step=1 loss=0.5\n"


def test_a_tracker_that_fails_is_given_up_and_said_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Tracker(monkeypatch, broken=True)
    for step in (1, 2):
        report(step=step, loss=0.5)
    lines = capfd.readouterr().out.splitlines()
    assert lines[1] == "report: mlflow: ConnectionError: no route to host; nothing more is sent there"
    assert lines[::2] == ["[sweep] step=1 loss=0.5", "[sweep] step=2 loss=0.5"]
    assert len(lines) == 3


# The real ones: `make trackers` installs them beside, for they are heavy


def real(module: str) -> str:
    """Return a Python that has this module, or skip the test."""
    beside = ROOT / ".trackers" / "bin" / "python"
    if find_spec(module) is not None:
        return sys.executable
    if not beside.exists():
        pytest.skip(f"{module} is not installed: `make trackers` installs it")
    return str(beside)


REPORTS = """
from orchestrator import report
for step in range(3):
    report(step=step, loss=1 / (step + 1), accuracy=step / 2)
"""


def reported(python: str, folder: Path, **environment: str) -> str:
    given = {"PYTHONPATH": str(ROOT), "TRAINING_JOB_NAME": "nightly-7-1", "SM_HPS": '{"lr": 0.1}'}
    return "\n".join(answer(python, REPORTS, folder, **given, **environment))


def answer(python: str, code: str, folder: Path, **environment: str) -> list[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "WANDB_"))}
    done = subprocess.run(
        [python, "-c", code], cwd=folder, env=kept | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("store", ["sqlite:///{}/runs.db", "file://{}/runs"])
def test_mlflow_has_the_metrics_of_a_training(tmp_path: Path, store: str) -> None:
    python, uri = real("mlflow"), store.format(tmp_path)
    out = reported(python, tmp_path, MLFLOW_TRACKING_URI=uri, MLFLOW_ALLOW_FILE_STORE="true")
    assert "report:" not in out
    look = f"""
import mlflow
client = mlflow.MlflowClient({uri!r})
(run,) = client.search_runs(["0"])
print(run.info.run_name, run.info.status, run.data.params)
print([(one.step, one.value) for one in client.get_metric_history(run.info.run_id, "accuracy")])
"""
    environment = {**os.environ, "MLFLOW_ALLOW_FILE_STORE": "true"}
    seen = subprocess.run(
        [python, "-c", look], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert seen.stdout.splitlines() == ["nightly-7-1 FINISHED {'lr': '0.1'}", "[(0, 0.0), (1, 0.5), (2, 1.0)]"]


def test_an_mlflow_server_that_is_not_there_costs_a_line(tmp_path: Path) -> None:
    out = reported(
        real("mlflow"), tmp_path, MLFLOW_TRACKING_URI="http://127.0.0.1:9", MLFLOW_HTTP_REQUEST_MAX_RETRIES="0"
    )
    assert out.count("[sweep]") == 3
    assert out.count("report: mlflow:") == 1


def test_wandb_has_the_metrics_of_a_training(tmp_path: Path) -> None:
    python = real("wandb")
    out = reported(python, tmp_path, WANDB_MODE="offline", WANDB_SILENT="true")
    assert "report:" not in out
    (log,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    kept = log.read_bytes()
    for word in (b"nightly-7-1", b"loss", b"0.3333333333333333", b"accuracy"):
        assert word in kept
