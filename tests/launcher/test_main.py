from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING
from unittest.mock import MagicMock

import pytest

from orchestrator.errors import AccessDenied, NewerVersion, NotFound, SweepError, Throttled, Unreachable, UsageError
from orchestrator.launcher import __main__ as launcher
from orchestrator.wire.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Callable

ALLOWED = {
    "orchestrator", "boto3", "botocore", "s3transfer", "jmespath", "dateutil", "six", "urllib3", "certifi", "idna",
}  # fmt: skip


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("no such line"), Exit.TASK_WRONG),
        (NewerVersion("a newer sweep has written it"), Exit.UNAVAILABLE),
        (AccessDenied("no s3:GetObject"), Exit.UNAVAILABLE),
        (NotFound("no such bucket"), Exit.UNAVAILABLE),
        (Throttled("slow down"), Exit.RESTART),
        (Unreachable("down"), Exit.RESTART),
        (RuntimeError("a bug"), Exit.RESTART),
    ],
)
def test_what_goes_wrong_before_a_result_decides_whether_batch_restarts(
    error: Exception, code: Exit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: object) -> Exit:
        raise error

    monkeypatch.setattr(launcher, "_launch", fails)
    assert launcher.main({}) is code


def test_a_fault_of_ours_leaves_its_traceback_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(launcher, "_launch", lambda _: 1 / 0)
    launcher.main({})
    assert "ZeroDivisionError" in caplog.text


def test_an_error_of_the_surroundings_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    assert launcher.main({}) is Exit.TASK_WRONG
    assert [record.getMessage().split(":")[0] for record in caplog.records] == ["SWEEP_MANIFEST"]
    assert not any(record.exc_info for record in caplog.records)


def test_a_launcher_has_one_runner_of_each_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has seen while S3 was away is not forgotten from look to look."""
    made: list[str] = []

    class Drives:
        def __init__(self, _history: object, runners: Callable[[str], object], _world: object) -> None:
            self.runners = runners

        def drive(self) -> Exit:
            assert self.runners("ec2") is self.runners("ec2")
            assert self.runners("ec2") is not self.runners("eks")
            return Exit.DONE

    monkeypatch.setattr(launcher, "make_runner", lambda name, clients: made.append(name) or object())  # noqa: ARG005
    monkeypatch.setattr(launcher, "Driver", Drives)
    for name in ("this_child", "real_world", "Clients", "S3", "Control", "read_task", "TaskHistory"):
        monkeypatch.setattr(launcher, name, MagicMock())
    assert launcher.main({}) is Exit.DONE
    assert made == ["ec2", "eks"]


def test_the_module_exits_with_the_launchers_code() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "orchestrator.launcher"], env={"PATH": ""}, capture_output=True, text=True, check=False
    )
    assert done.returncode == Exit.TASK_WRONG
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


def test_the_child_side_needs_only_boto3_and_the_standard_library() -> None:
    script = textwrap.dedent("""
        import json, pkgutil, sys
        from importlib import import_module
        import orchestrator.launcher.__main__, orchestrator.wire, orchestrator.aws, orchestrator.platforms

        submit_side = {"planning", "limits", "parallel_support", "stage", "staging", "images", "asked", "starting"}
        submit_side |= {"aws_images", "image_variables", "network_ids", "operating", "account", "leftovers"}
        for room in (orchestrator.wire, orchestrator.aws, orchestrator.platforms, orchestrator.launcher):
            for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
                if submit_side.isdisjoint(module.name.split(".")) and not module.name.endswith("bare.template"):
                    import_module(module.name)
        from orchestrator.aws.session import Clients
        Clients().client("s3", "us-east-1"), Clients().client("sagemaker", "us-east-1")
        named = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
        print(json.dumps(sorted(name for name in named if not name.startswith("_"))))
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert set(json.loads(done.stdout)) <= ALLOWED


def test_a_launcher_loads_the_runner_of_its_platform_and_no_other_part_of_it() -> None:
    script = textwrap.dedent("""
        import sys
        import orchestrator.launcher.__main__
        from orchestrator.aws.session import Clients
        from orchestrator.platforms.registry import make_runner
        assert "orchestrator.platforms.sagemaker" not in sys.modules
        make_runner("sagemaker", Clients())
        print(*(name for name in sys.modules if name.startswith("orchestrator")))
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.removeprefix("orchestrator.") for name in done.stdout.split()}
    needed = ["runner", "request", "processes", "processes.parallel"]
    needed += ["described", "described.outcome", "described.waits", "described.held"]
    ours = {name for name in loaded if name.startswith("platforms.sagemaker.")}
    assert ours == {f"platforms.sagemaker.{name}" for name in needed}
    assert not {"spec", "runs", "db", "settings"} & {name.partition(".")[0] for name in loaded}


def test_every_error_of_ours_has_an_exit_code() -> None:
    def below(kind: type[SweepError]) -> list[type[SweepError]]:
        return [kind, *(deeper for child in kind.__subclasses__() for deeper in below(child))]

    # Rooms of the submitting side have errors of their own, which no launcher meets.
    ours = [kind for kind in below(SweepError) if kind.__module__ == SweepError.__module__]
    assert {launcher._exit_code(kind("x")) for kind in ours} == {
        Exit.TASK_WRONG, Exit.UNAVAILABLE, Exit.RESTART,
    }  # fmt: skip
