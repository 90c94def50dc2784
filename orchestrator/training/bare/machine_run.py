"""One machine of a training from its beginning to its end: it fetches, meets the others, trains, keeps and tells.

It travels into the training: standard library only.
"""

from __future__ import annotations

import signal
import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.training.aws_call import CallFailed
from orchestrator.training.bare.files.bucket import S3Failed
from orchestrator.training.bare.files.folders import fetch_data, forget_failure, keep, read_failure, write_folders
from orchestrator.training.bare.files.saving import Saving
from orchestrator.training.bare.notices import listen
from orchestrator.training.bare.running import container
from orchestrator.training.bare.running.child import Child
from orchestrator.training.bare.running.surroundings import Surroundings
from orchestrator.training.bare.telling.outcome import DONE, FAILED, LEFT, MachineOutcome, leave_outcome
from orchestrator.training.bare.telling.usage import Usage
from orchestrator.training.bare.together.coming_back import First, gave_up, lost_each_other
from orchestrator.training.bare.together.leave import INTERRUPTED, STOPPED, TASK, TIMEOUT, Verdict, hear_all, tell_all
from orchestrator.training.bare.together.meet import HOSTS_FILE, DidNotMeet, Meeting, leave_word, meet, name_hosts
from orchestrator.training.bare.together.ssh import NoSsh, Ssh, needs_ssh
from orchestrator.training.credentials import Keyring
from orchestrator.training.starter.machine import HOME, moved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.training.bare.assignment import Assignment
    from orchestrator.training.bare.files.bucket import Bucket
    from orchestrator.training.bare.telling.logs import Log
    from orchestrator.training.bare.together.place import Place

UNFINISHED = 75
"""The exit code of a machine that has left before its training was done."""
_FLUSH_S = 20.0
"""Seconds that the last lines have to reach CloudWatch."""
_AGAIN = 20
"""Times that a training begins whose machines may come and go."""


class MachineRun:
    """A machine at work. Whatever ends it is a verdict, and the first one counts."""

    def __init__(
        self,
        assignment: Assignment,
        place: Place,
        bucket: Bucket,
        log: Log,
        environ: Mapping[str, str],
        already_s: float = 0.0,
    ) -> None:
        self._keyring = Keyring(environ)
        self.assignment = assignment
        self.place = place
        self.bucket = bucket
        self.log = log
        self.environ = environ
        self.base = Path(environ.get("SWEEP_BASE") or environ.get("SAGEMAKER_BASE_DIR") or HOME)
        self._around = Surroundings(assignment, self.base, environ)
        self.started_at = time.time()
        self._deadline = time.monotonic() + assignment.max_runtime_s - already_s
        self._notices = listen(assignment.kind, log.say)
        self._verdict: Verdict | None = None
        self._told = False
        """The verdict was heard from others."""
        self._spread_out = False
        """The others have been told of it."""
        self._is_ready = False
        self._began_at = 0.0
        self._saving: Saving | None = None
        self._ssh: Ssh | None = None
        self._usage = Usage(self._around.own())
        self._first = First(Meeting(bucket, assignment.output, place.index, assignment.instances), place, log.say)

    def run(self) -> int:
        """Do all of it, tell how it ended, and return the exit code of the program."""
        signal.signal(signal.SIGTERM, lambda *_: self._judge(INTERRUPTED, "SIGTERM: this machine is taken away"))
        code, artifact = 0, ""
        used: dict[str, float] = {}
        try:
            code = self._train_until_over() if self._prepare() else 0
            used = self._usage.end()
            if self._ssh:
                self._ssh.close()
            if code and self._verdict is None:
                self._judge(TASK, read_failure(self.base) or f"the training ended with exit code {code}")
            self._spread()
            artifact = self._keep()
        except Exception as error:  # noqa: BLE001  whatever it is, a machine may not go without a word
            self.log.say("its own program has failed\n" + traceback.format_exc())
            self._judge(INTERRUPTED, f"its own program has failed: {type(error).__name__}: {error}")
        self._spread()
        self._tell(code, artifact, used)
        return UNFINISHED if self._verdict and (self._told or not code) else code

    # Until the training's own process begins

    def _prepare(self) -> bool:
        """Do what comes before the training, and look around while it is done; return whether all is there."""
        worker = threading.Thread(target=self._fetch_and_meet, name="preparing", daemon=True)
        worker.start()
        while worker.is_alive() and self._verdict is None:
            worker.join(self.assignment.look_s)
            self._look()
        if not self._is_ready:
            self._judge(TASK, "it cannot begin, for a reason that its log shows")
        return self._verdict is None

    def _fetch_and_meet(self) -> None:
        given, place, say = self.assignment, self.place, self.log.say
        try:
            say(f"machine {place.index} of {given.instances} at {place.address} for {given.training}")
            if given.image:
                say(f"pulling {given.image}")
                container.pull(given.image, self._around.own(), self._keyring)
            size = fetch_data(self.bucket, self.base, given, place)
            say(f"{size} bytes of data are here")
            folder = Path(moved(given.checkpoint_folder, self.base))
            if given.checkpoints:
                saving = Saving(self.bucket, folder, given.checkpoints, given.look_s, say)
                say(f"{saving.restore()} files of checkpoints are here")
                self._saving = saving
            write_folders(self.base, given, place, self._meet())
            self._is_ready = True
        except DidNotMeet as error:
            self._judge(INTERRUPTED, str(error))
        except (S3Failed, CallFailed, container.NoContainer, NoSsh, OSError, ValueError, KeyError) as error:
            self._judge(TASK, f"it cannot begin: {error}")

    def _meet(self) -> list[str]:
        """Return the names of all machines, after they have met; those that have names need not wait for each other."""
        given, said = self.assignment, {"address": self.place.address, "since": str(self.started_at)}
        meeting = Meeting(self.bucket, given.output, self.place.index, given.instances)
        if given.names:
            leave_word(meeting, said)
            return list(given.names)
        if needs_ssh(given, self.environ):
            self._ssh = Ssh(self.place, self._around.own())
            said.update(self._ssh.make_key())
        words = meet(meeting, said, given.meet_s, self._over)
        # Where another folder is /opt/ml, the machine is not the training's alone: its names are not ours to give.
        file = self.environ.get(HOSTS_FILE, "/etc/hosts" if str(self.base) == HOME else "")
        names = name_hosts([word["address"] for word in words], file)
        if self._ssh:
            self._around.add(self._ssh.open(words, names))
        return names

    def _over(self) -> str:
        return self._verdict.reason if self._verdict else ""

    # While it runs

    def _train_until_over(self) -> int:
        """Train, and again where processes have lost each other but not their way; return the exit code."""
        if self._saving:
            self._saving.begin()
        code = 0
        for left in reversed(range(_AGAIN if self.assignment.least else 1)):
            first = self._first.begins() if self.assignment.least else ""
            code = self._train()
            if not code or self._verdict or not left or not self._goes_on(first):
                return code
            self.log.say("it begins again, with whoever is there")
            forget_failure(self.base)
        return code

    def _goes_on(self, first: str) -> bool:
        """Return whether a training that has failed may begin again, after waiting for whatever that takes."""
        if gave_up(self.base):
            return False
        if lost_each_other(self.base):
            time.sleep(self.assignment.look_s)
            self._look()
            return self._verdict is None
        return self.place.index > 0 and self._comes_back(first)

    def _comes_back(self, first: str) -> bool:
        """Wait until the first machine begins anew, and return True; False if all is over before."""
        ends_at = time.monotonic() + self.assignment.meet_s
        while self._verdict is None:
            if self._first.since() not in ("", first):
                return True
            if time.monotonic() > ends_at:
                self._judge(INTERRUPTED, f"the first machine did not come back within {self.assignment.meet_s:.0f} s")
            time.sleep(self.assignment.look_s)
            self._look()
        return False

    def _train(self) -> int:
        """Run the starter until it ends by itself, or a verdict ends it; return its exit code."""
        given = self.assignment
        try:
            child = Child(self._around.line(), self._around.variables(), self.log.take)
        except OSError as error:
            self._judge(TASK, f"it cannot begin: {error}")
            return 0
        self._began_at = time.time()
        self._usage.begin()
        asked_at = None
        while True:
            code = child.wait(given.look_s)
            if code is not None:
                return code
            self._look()
            if self._verdict and asked_at is None:
                self.log.say(f"ending: {self._verdict.reason}")
                asked_at = time.monotonic()
                child.ask()
            if asked_at is not None and time.monotonic() > asked_at + given.grace_s:
                self.log.say(f"it has not ended within {given.grace_s:.0f} s, and is killed")
                child.kill()
                if given.image:
                    container.kill(self._around.own())

    # Verdicts

    def _judge(self, cause: str, reason: str, *, told: bool = False) -> None:
        if self._verdict is None:
            self._verdict, self._told = Verdict(cause, reason), told

    def _look(self) -> None:
        """Look for whatever ends the training: its time, a notice, word from the others."""
        if time.monotonic() > self._deadline:
            self._judge(TIMEOUT, f"it ran for longer than {self.assignment.max_runtime_s} s")
        why = "" if self._verdict else self._notices.heard()
        if why:
            self._judge(INTERRUPTED, why)
        self._spread()
        if self._verdict is None:
            try:
                heard = hear_all(self.bucket, self.assignment.output)
            except (S3Failed, ValueError, KeyError) as error:
                self.log.say(f"nobody can say whether to leave: {error}")
                return
            if heard:
                self._judge(*heard, told=True)

    def _spread(self) -> None:
        """Tell the others of a verdict of our own, until they have been told."""
        if self._verdict is None or self._told or self._spread_out:
            return
        if self.assignment.least and self._verdict.cause == INTERRUPTED:
            return  # the others go on, and this one comes back
        by = f"machine {self.place.index}" if self.assignment.instances > 1 else ""
        try:
            tell_all(self.bucket, self.assignment.output, self._verdict, by)
            self._spread_out = True
        except S3Failed as error:
            self.log.say(f"the other machines cannot be told: {error}")

    # Afterwards

    def _keep(self) -> str:
        """Upload checkpoints and what the training leaves behind; return the address of the model."""
        try:
            if self._saving:
                self._saving.end()
            if self._verdict and self._verdict.cause in (INTERRUPTED, STOPPED):
                return ""
            return keep(self.bucket, self.base, self.assignment.output, self.place.index) if self._began_at else ""
        except (S3Failed, OSError) as error:
            self._judge(TASK, f"what it leaves behind cannot be uploaded: {error}")
            return ""

    def _tell(self, code: int, artifact: str, used: dict[str, float]) -> None:
        verdict = self._verdict
        state = (LEFT if self._told else FAILED) if verdict else DONE
        ended = MachineOutcome(
            index=self.place.index,
            state=state,
            cause=verdict.cause if verdict else "",
            reason=verdict.reason if verdict else "",
            exit_code=code,
            error=read_failure(self.base) if code else "",
            started_at=self.started_at,
            began_at=self._began_at,
            ended_at=time.time(),
            artifact=artifact,
            facts=self.place.facts,
            used=used,
        )
        if used:
            self.log.say("used: " + ", ".join(f"{name}={value:g}" for name, value in used.items()))
        self.log.say(f"machine {ended.index} is {state}" + (f", {ended.cause}: {ended.reason}" if verdict else ""))
        self.log.end(_FLUSH_S)
        leave_outcome(self.bucket, self.assignment.output, ended)
