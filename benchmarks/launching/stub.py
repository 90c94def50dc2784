"""An AWS for launchers to speak to, which notes what a launcher has taken when its CreateTrainingJob arrives."""

from __future__ import annotations

import logging
import os
import subprocess
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

PATIENCE_S = 120
CREATE = "SageMaker.CreateTrainingJob"


@dataclass(frozen=True)
class Taken:
    """By one process, from its start to its CreateTrainingJob."""

    cpu_s: float
    peak_mb: float


class Stub:
    """moto's answers, with an eye on one process."""

    def __init__(self, port: int, noted: Noted) -> None:
        self.noted = noted
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SWEEP_"))},
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def launch(self, command: Sequence[str | Path], environment: dict[str, str]) -> Taken:
        """What this launcher takes until its training is asked for; it is ended there."""
        self.noted.reset()
        process = subprocess.Popen(
            [str(word) for word in command],
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.noted.process = process.pid
        try:
            if not self.noted.sent.wait(PATIENCE_S):
                process.kill()
                raise SystemExit(f"{command} asked for no training:\n{process.communicate()[0].decode()[-2000:]}")
        finally:
            process.kill()
            process.communicate()
        return self.noted.taken


class Noted:
    """Middleware before moto: looks at the process when CreateTrainingJob comes by."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.sent = threading.Event()
        self.process = 0
        self.taken = Taken(0, 0)

    def reset(self) -> None:
        self.sent.clear()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ.get("HTTP_X_AMZ_TARGET") == CREATE and not self.sent.is_set():
            self.taken = taken(self.process)
            self.sent.set()
        answer: Iterable[bytes] = self.application(environ, start_response)
        return answer


def taken(process: int) -> Taken:
    stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    ticks = sum(int(field) for field in stat[11:15])  # its own user and system time, and its ended children's
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    peak_kb = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return Taken(ticks / os.sysconf("SC_CLK_TCK"), peak_kb / 1024)


@contextmanager
def stub() -> Iterator[Stub]:
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    noted = Noted(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, noted, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield Stub(server.port, noted)
    finally:
        server.shutdown()
        thread.join()
