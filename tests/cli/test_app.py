"""A command ends with one line on stderr, the right exit code, and nothing left running."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from orchestrator import errors
from orchestrator.cli.app import main
from orchestrator.cli.session import Session
from orchestrator.localcloud.errors import LocalCloudError
from tests.cli.fake import FakeOrchestrator

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.calls import Shell, Sweep


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch, sweep: Sweep) -> Callable[..., tuple[int, str, str]]:
    """What `sweep runs` says and ends with when this happens inside."""

    def run(error: BaseException, *options: str) -> tuple[int, str, str]:
        class Broken(FakeOrchestrator):
            def runs(self, *, sync: bool) -> list[object]:  # noqa: ARG002
                raise error

        monkeypatch.setattr(Session, "orchestrator", Broken())
        ended = sweep("runs", *options)
        return ended.code, ended.out, ended.err

    return run


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.CloudError("m"), 1),
        (errors.UsageError("m"), 2),
        (errors.SpecError("m"), 2),
        (errors.NoCredentials("m"), 4),
        (errors.AccessDenied("m"), 4),
        (errors.PartlyFailed("m"), 5),
        (errors.Refused("m"), 6),
        (LocalCloudError("m"), LocalCloudError.exit_code),
    ],
)
def test_an_error_is_one_line_and_its_own_exit_code(failing, error: Exception, code: int) -> None:
    assert failing(error) == (code, "", "error: m\n")


def test_an_error_says_where_and_what_to_do(failing) -> None:
    error = errors.SpecError("unknown key 'spcae'", where="sweep.yaml:3:1", hint="did you mean 'space'?")
    assert failing(error)[2] == "error: sweep.yaml:3:1: unknown key 'spcae' (did you mean 'space'?)\n"


def test_an_error_of_several_lines_is_still_one_line(failing) -> None:
    assert failing(errors.CloudError("first\n  second"))[2] == "error: first second\n"


def test_a_full_disk_is_no_bug(failing) -> None:
    assert failing(OSError(28, "No space left on device", "sweep.db")) == (
        1,
        "",
        "error: sweep.db: No space left on device\n",
    )


def test_a_bug_says_that_it_is_one_without_a_traceback(failing) -> None:
    code, out, err = failing(ZeroDivisionError("division by zero"))
    assert (code, out) == (1, "")
    assert err.startswith("error: this is a bug")
    assert "ZeroDivisionError: division by zero" in err
    assert err.count("\n") == 1


def test_with_json_an_error_is_json_too(failing) -> None:
    code, out, err = failing(errors.NotFound("no run 'x'", where="us-east-1", hint="`sweep runs` lists them"), "--json")
    assert (code, out) == (1, "")
    assert json.loads(err) == {
        "error": {"message": "no run 'x'", "where": "us-east-1", "hint": "`sweep runs` lists them", "exit_code": 1}
    }
    _, _, err = failing(ValueError("oops"), "--json")
    assert json.loads(err)["error"]["message"].startswith("this is a bug")


def test_debug_shows_where_an_error_comes_from(failing) -> None:
    _, _, err = failing(errors.CloudError("m"), "--debug")
    assert "Traceback" in err
    assert err.endswith("error: m\n")


def test_ctrl_c_is_one_line_and_130(failing) -> None:
    assert failing(KeyboardInterrupt()) == (130, "", "interrupted\n")


def test_ctrl_c_while_the_commands_are_loaded_is_one_line_and_130(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def interrupted(_arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("orchestrator.cli.app._run", interrupted)
    assert main(["runs"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.usefixtures("team")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plam"], "No such command 'plam'"),
        (["runs", "--jsn"], "No such option: --jsn"),
        (["submit"], "Missing argument 'FILE'"),
        (["catalog"], "Missing command (see `sweep catalog --help`)"),
        (["--verbose"], "Missing command"),
        (["results", "--limit", "many"], "--limit"),
        (["results", "--limit", "0"], "--limit"),
        (["logs", "--task", "3,x"], "--task: '3,x' names no tasks"),
        (["--profile"], "--profile"),
    ],
)
def test_a_misspelt_command_line_is_one_line_that_says_what_to_do(
    sweep: Sweep, arguments: list[str], said: str
) -> None:
    ended = sweep(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert said in ended.err
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1


def test_help_needs_none_of_the_heavy_libraries() -> None:
    script = (
        "import sys\n"
        "from orchestrator.cli.app import main\n"
        "assert main(['--help']) == 0\n"
        "heavy = {'boto3', 'botocore', 'pandas', 'numpy', 'sqlalchemy', 'pydantic', 'moto', 'yaml'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Commands:" in done.stdout
    assert done.stderr == "[]\n"


def test_nothing_at_all_asks_for_help(sweep: Sweep) -> None:
    assert sweep() == sweep("--help")


def test_a_shell_completes_commands(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    for name, value in {"_SWEEP_COMPLETE": "complete_bash", "COMP_WORDS": "sweep ca", "COMP_CWORD": "1"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr().out.split() == ["catalog", "cancel"]


@pytest.mark.parametrize("command", ["", "catalog", "local", "plan", "submit", "demo"])
def test_every_group_and_command_explains_itself(sweep: Sweep, command: str) -> None:
    ended = sweep(*command.split(), "--help")
    assert ended.code == 0
    assert "Usage: sweep" in ended.out


def test_the_version_is_that_of_the_distribution(sweep: Sweep) -> None:
    from importlib.metadata import version

    assert sweep("--version").out == version("sweep-orchestrator") + "\n"


def test_ctrl_c_ends_a_program_that_waits_in_one_line(shell: Shell) -> None:
    process = shell("logs", "-f", fake="endless")
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "interrupted\n")


def test_being_terminated_unwinds_so_that_what_was_started_is_stopped(shell: Shell) -> None:
    process = shell("logs", "-f", fake="endless unwinding")
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (128 + signal.SIGTERM, "stopped what was started\n")


def test_a_reader_that_leaves_ends_the_program_quietly(shell: Shell) -> None:
    process = shell("results", fake="many")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=20) == 141
    assert process.stderr.read() == ""


@pytest.mark.parametrize("command", ["results", pytest.param("runs", marks=pytest.mark.long), "--version", "--help"])
def test_a_closed_standard_output_is_one_clear_line(command: str) -> None:
    script = f"exec {sys.executable} -m tests.cli.fake {command} >&-"
    done = subprocess.run(["sh", "-c", script], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "error: standard output is closed: there is nowhere to print to\n")


def test_a_closed_standard_error_does_not_get_into_the_data() -> None:
    script = f"exec {sys.executable} -m tests.cli.fake sync --verbose 2>&-"
    done = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)


def test_global_options_may_stand_behind_the_command(monkeypatch: pytest.MonkeyPatch, sweep: Sweep) -> None:
    seen: list[Session] = []
    monkeypatch.setattr(Session, "orchestrator", property(lambda self: seen.append(self) or FakeOrchestrator()))
    sweep("runs", "--json", "--profile", "research", "--region=eu-west-1")
    sweep("--profile", "research", "--region", "eu-west-1", "runs", "--json")
    assert seen[0] == seen[1] == Session("research", "eu-west-1")


def test_an_error_rules_no_terminal_and_fills_none(failing: Callable[..., tuple[int, str, str]]) -> None:
    hostile = "\x1b[2J\x07\x9b31m\u202ename" + "x" * 5000
    _, _, err = failing(errors.UsageError(hostile, where="here", hint="do this"))
    assert err.startswith("error: here: \\x1b[2J\\x07\\x9b31m\\x202ename")
    assert err.endswith("(do this)\n")
    assert len(err) < 820
