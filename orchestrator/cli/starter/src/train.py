"""One training: reads its point from the options, its data from SM_CHANNEL_TRAINING, and reports its metrics."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from orchestrator import Checkpoints, report


class Training:
    """Replace this with your model."""

    def __init__(self, learning_rate: float) -> None:
        self.learning_rate = learning_rate
        self.weight = 0.0

    def step(self) -> float:
        self.weight += self.learning_rate * (1.0 - self.weight)
        return (1.0 - self.weight) ** 2

    def save(self, path: Path) -> None:
        path.write_text(json.dumps({"weight": self.weight}))

    def load(self, path: Path) -> None:
        self.weight = json.loads(path.read_text())["weight"]


def main() -> None:
    options = _options()
    data = Path(os.environ.get("SM_CHANNEL_TRAINING", "."))
    files = sum(1 for path in data.rglob("*") if path.is_file())
    print(f"training on {files} files, batches of {options.batch_size}")

    training = Training(options.learning_rate)
    for epoch in Checkpoints(training.save, training.load).steps(options.epochs):  # goes on where it was interrupted
        report(step=epoch + 1, loss=training.step())

    training.save(Path(os.environ.get("SM_MODEL_DIR", ".")) / "model.json")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--batch-size", type=int, default=32)
    return parser.parse_known_args()[0]


if __name__ == "__main__":
    main()
