"""Hears that this machine is about to go: by SIGTERM, or by EC2's two minutes' notice to a spot instance.

It travels into the training: standard library only. StopTrainingJob sends SIGTERM, and kills 120 seconds later.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from typing import TYPE_CHECKING

from orchestrator.training.metadata import read_metadata
from orchestrator.training.process import write_line

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_LOOK_EVERY_S = 5.0


class Notice:
    """Listens for the notice that it is time to go: `why` is empty until then, and says what was heard."""

    def __init__(self, *, on_ec2: bool = False) -> None:
        self.why = ""
        self._on_ec2 = on_ec2
        self._before: Any = None
        self._process = 0
        self._closed = threading.Event()

    def listen(self) -> None:
        """Listen from now on. Outside of the program's main thread do nothing: signals do not reach it."""
        if self._process or threading.current_thread() is not threading.main_thread():
            return
        self._process = os.getpid()
        self._before = signal.signal(signal.SIGTERM, self._on_signal)
        if self._on_ec2:
            threading.Thread(target=self._look_for_spot_notice, name="spot notice", daemon=True).start()

    def close(self) -> None:
        """Stop listening: SIGTERM means again what it meant before."""
        self._closed.set()
        if self._process == os.getpid():
            signal.signal(signal.SIGTERM, self._before or signal.SIG_DFL)
        self._process = 0

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:  # a forked helper of the training: it ends as it would have without us
            signal.signal(signal.SIGTERM, self._before or signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self.why = "SIGTERM"
        if callable(self._before):
            self._before(number, frame)

    def _look_for_spot_notice(self) -> None:
        said = False
        while not self.why and not self._closed.is_set():
            try:
                action = spot_action()
            except (OSError, ValueError) as error:
                if not said:
                    write_line(f"checkpoint: no word from the instance's metadata: {error}")
                said = True
            else:
                if action:
                    self.why = f"spot notice: {action.get('action')} at {action.get('time')}"
            self._closed.wait(_LOOK_EVERY_S)


def spot_action() -> dict[str, Any] | None:
    """Return what EC2 is going to do to this instance, and when; None while it is going to do nothing.

    Raise OSError or ValueError when the metadata service gives no answer that can be read.
    """
    answer = read_metadata("meta-data/spot/instance-action")
    if answer is None:
        return None
    action: dict[str, Any] = json.loads(answer)
    return action
