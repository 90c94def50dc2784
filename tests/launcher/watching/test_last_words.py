"""What a training's log says of its failure, as people would read it."""

from __future__ import annotations

import pytest

from orchestrator.errors import Throttled
from orchestrator.launcher.watching.last_words import KEPT, LONGEST, explain_failure, find_cause
from orchestrator.wire.result import Attempt
from orchestrator.wire.task import Lane, Purchase

LANE = Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.SPOT)
ATTEMPT = Attempt(3, 1, 0, LANE, "t-3-1", "", 60, 0.0, 1.0)
TRACEBACK = ["Traceback (most recent call last):", '  File "train.py", line 3, in <module>', "    main()"]
TORCHRUN = [
    "epoch 1 loss=0.3",
    *(f"[rank1]: {line}" for line in TRACEBACK),
    "[rank1]: ValueError: loss is nan at step 3",
    "E1122 01:02:03 torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: 1) local_rank: 1 (pid: 7)",
    *TRACEBACK,
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
    "============================================================",
    "train.py FAILED",
    "Root Cause (first observed failure):",
    "  exitcode  : 1 (pid: 7)",
    "============================================================",
]
MPIRUN = [
    "[1,mpirank:0,algo-1]<stdout>:epoch 1",
    "[1,mpirank:1,algo-2]<stderr>:urllib.error.URLError: <urlopen error [Errno -2] Name or service not known>",
    "--------------------------------------------------------------------------",
    "Primary job  terminated normally, but 1 process returned a non-zero exit code.",
    "--------------------------------------------------------------------------",
]
ARGPARSE = ["usage: train.py [-h] [--lr LR]", "train.py: error: unrecognized arguments: --learning_rate 0.1"]


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        (ARGPARSE, "train.py: error: unrecognized arguments: --learning_rate 0.1"),
        ([*TRACEBACK, "KeyError: 'SM_CHANNEL_TRAIN'"], "KeyError: 'SM_CHANNEL_TRAIN'"),
        (
            [*TRACEBACK, "torch.cuda.OutOfMemoryError: CUDA out of memory."],
            "torch.cuda.OutOfMemoryError: CUDA out of memory.",
        ),
        (TORCHRUN, "ValueError: loss is nan at step 3"),
        (MPIRUN, "urllib.error.URLError: <urlopen error [Errno -2] Name or service not known>"),
        (["begin", "Killed"], "Killed"),
        (["x=3 is broken", ""], "x=3 is broken"),
        ([*TRACEBACK, "AssertionError"], "AssertionError"),
        ([], ""),
        (["", "  "], ""),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_the_cause_is_the_failed_rank_s_own_line(lines: list[str], cause: str) -> None:
    assert find_cause(("algo-1", line) for line in lines) == cause


def test_the_stream_that_names_a_cause_speaks_for_all() -> None:
    lines = [("algo-1", "waiting for algo-2"), ("algo-2", "RuntimeError: no data"), ("algo-1", "connection lost")]
    assert find_cause(lines) == "RuntimeError: no data"


LOST = (
    "[rank0]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:5] Connection closed by peer [::1]:7"
)
CLOSED = "torch.distributed.elastic.rendezvous.api.RendezvousClosedError"


def test_what_follows_from_another_error_is_no_cause_while_one_is_named() -> None:
    lines = [("rank-0", LOST), ("rank-0", CLOSED), ("rank-1", "[rank1]: KeyError: 'label'"), ("rank-1", CLOSED)]
    assert find_cause(lines) == "KeyError: 'label'"
    assert find_cause(lines[:2]) == CLOSED


def test_an_endless_log_and_an_endless_line_are_cut() -> None:
    lines = [("a", "ValueError: long ago"), *(("a", "noise") for _ in range(KEPT)), ("a", "y" * 5000)]
    assert find_cause(lines) == "y" * LONGEST


class Log:
    def __init__(self, *lines: str, broken: bool = False) -> None:
        self.lines, self.broken = lines, broken

    def logs(self, *_: object) -> list[tuple[str, str]]:
        if self.broken:
            raise Throttled("slow down")
        return [("algo-1", line) for line in self.lines]


@pytest.mark.parametrize(
    ("log", "reason", "explained"),
    [
        (Log(*ARGPARSE), "exit code 2", f"{ARGPARSE[1]} (exit code 2)"),
        (Log(*ARGPARSE), "", ARGPARSE[1]),
        (
            Log("ValueError: x"),
            'AlgorithmError: ErrorMessage "ValueError: x"',
            'AlgorithmError: ErrorMessage "ValueError: x"',
        ),
        (Log(LOST, CLOSED), 'ErrorMessage "KeyError: 7"', 'ErrorMessage "KeyError: 7"'),
        (Log(CLOSED), 'ErrorMessage ""', f'{CLOSED} (ErrorMessage "")'),
        (Log(), "exit code 2", "exit code 2"),
        (Log("ValueError: x", broken=True), "exit code 2", "exit code 2"),
    ],
)
def test_a_reason_gets_the_training_s_own_words_once(log: Log, reason: str, explained: str) -> None:
    assert explain_failure(reason, log, ATTEMPT, None) == explained  # type: ignore[arg-type]
