"""What has become of the checkpoints of one run: none is lost, and each copy to another Region is billed once."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from orchestrator.launcher.moving.saved import USUAL_USD_PER_GB
from tests.chaos.storm.audit import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator import Plan
    from orchestrator.wire.result import Result
    from tests.chaos.report import Report
    from tests.chaos.storm.stage import Stage

MORE, LESS = 1.05, 0.5
"""What a copy may have cost at the most and the least, as parts of the price of the largest checkpoint."""


class CheckpointAuditor:
    """Looks at a run's checkpoints from outside: by what trainings wrote down of themselves, and by S3."""

    def __init__(self, stage: Stage, run: str, report: Report) -> None:
        self.stage = stage
        self.run = run
        self.report = report

    def none_is_lost(self) -> None:
        """Check that each attempt goes on after no earlier step than the one before it had found in S3."""
        for task, first in self._went_on_after().items():
            for (before, step), (after, later) in pairwise(sorted(first.items())):
                if later < step:
                    words = f"{self.run}-{task}-{after} goes on after step {later}, and attempt {before} after {step}"
                    self.report.find("lost", words)

    def _went_on_after(self) -> dict[int, dict[int, int]]:
        """Return after which step each attempt of each task has gone on when it began first; -1 if it began anew."""
        found: dict[int, dict[int, int]] = {}
        for file in (self.stage.folder / self.run).glob("*.loaded"):
            steps = found[int(file.stem)] = {}
            for line in read_lines(file):
                attempt, step = line.split()
                steps.setdefault(int(attempt), int(step))
        return found

    def each_copy_is_paid_once(self, plan: Plan, results: Iterable[Result]) -> None:
        """Check that no copy is billed twice or not at all, and no task costs more than its envelope. Count the moves.

        The catalog tells no price of a GB between the Regions: then there is a usual one.
        """
        went_on, sizes = self._went_on_after(), self._sizes()
        for result in results:
            envelope = plan.share(result.task).limits.envelope
            if envelope is not None and result.usd > envelope:
                self.report.find("untrue", f"{self.run}: task {result.task} cost ${result.usd} of ${envelope}")
            steps, price = went_on.get(result.task, {}), sizes[result.task] / 1e9 * USUAL_USD_PER_GB
            next_region = {one.number - 1: one.lane.region for one in result.outcomes}
            for one in result.outcomes:
                step = steps.get(one.number + 1, -1)
                has_moved = step >= 0 and next_region.get(one.number, one.lane.region) != one.lane.region
                self.report.moves[one.lane.platform] += has_moved
                # What the other Region has still is not brought again.
                is_new = has_moved and step > steps.get(one.number, step)
                if one.moved_usd > MORE * price or (is_new and one.moved_usd < LESS * price):
                    words = f"its copy would be ${price:.3g}, and is said to be ${one.moved_usd:.3g}"
                    self.report.find("untrue", f"{self.run}: {one.training} moved: {words}")

    def _sizes(self) -> Counter[int]:
        """Return the bytes of the largest checkpoint of each task."""
        slots: Counter[tuple[str, int, str]] = Counter()
        for region in self.stage.cloud.regions:
            for key, size in self.stage.witness.saved(region, self.run).items():
                _, _, _, task, slot, *_ = key.split("/")
                slots[region, int(task), slot] += size
        largest: Counter[int] = Counter()
        for (_, task, _), size in slots.items():
            largest[task] = max(size, largest[task])
        return largest
