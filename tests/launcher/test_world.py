from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.launcher.world import LONGEST_BACK_OFF
from tests.launcher.fakes import Time


@given(st.integers(1, 10_000), st.floats(0.1, 60), st.integers(1, 10_000))
def test_waits_double_up_to_a_bound_and_never_overflow(siblings: int, poll_s: float, refusals: int) -> None:
    world = Time().world(siblings)
    assert world.back_off(poll_s, refusals) <= max(LONGEST_BACK_OFF * poll_s, siblings)
    assert world.back_off(poll_s, 1) <= 2 * poll_s


def test_sigterm_ends_a_sleep_and_is_remembered() -> None:
    script = textwrap.dedent("""
        import sys, time
        from orchestrator.launcher.world import real_world
        world = real_world(1)
        print("ready", flush=True)
        began = time.monotonic()
        world.sleep(60)
        assert world.terminated()
        assert time.monotonic() - began < 30
    """)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(timeout=30) == 0
