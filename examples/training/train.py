"""Fit a line by gradient descent: the smallest training that keeps SageMaker's container contract.

Hyperparameters arrive as options, data and folders as SM_* variables; metrics leave through the log. It saves as it
goes and continues from what it finds saved, so that an interrupted spot training loses little.
"""

import argparse
import csv
import json
import os
import random
from pathlib import Path

from orchestrator import Checkpoints, report


class Line:
    def __init__(self) -> None:
        self.slope, self.offset = 0.0, 0.0

    def step(self, points: list[tuple[float, float]], lr: float) -> None:
        errors = [(self.slope * x + self.offset - y, x) for x, y in points]
        self.slope -= lr * sum(error * x for error, x in errors) / len(errors)
        self.offset -= lr * sum(error for error, _ in errors) / len(errors)

    def loss(self, points: list[tuple[float, float]]) -> float:
        return sum((self.slope * x + self.offset - y) ** 2 for x, y in points) / len(points)

    def save(self, path: Path) -> None:
        path.write_text(json.dumps([self.slope, self.offset]))

    def load(self, path: Path) -> None:
        self.slope, self.offset = json.loads(path.read_text())


def main(lr: float, epochs: int, batch: int, shuffle: bool) -> None:
    line, points = Line(), samples()
    for epoch in Checkpoints(line.save, line.load).steps(epochs):
        order = random.Random(epoch).sample(points, len(points)) if shuffle else points
        for start in range(0, len(order), batch):
            line.step(order[start : start + batch], lr)
        report(step=epoch + 1, loss=line.loss(points))
    line.save(Path(os.environ.get("SM_MODEL_DIR", ".")) / "model.json")


def samples() -> list[tuple[float, float]]:
    """First and last column of the data channel's CSV files, scaled to 1. Without data, a noisy line of our own."""
    folder = Path(os.environ.get("SM_CHANNEL_TRAINING", "/opt/ml/input/data/training"))
    rows = [row for path in sorted(folder.rglob("*.csv")) for row in csv.reader(path.open())]
    points = [(float(row[0]), float(row[-1])) for row in rows if row and row[0].lstrip("-.")[:1].isdigit()]
    if points:
        widest, tallest = (max(map(abs, column)) or 1.0 for column in zip(*points, strict=True))
        return [(x / widest, y / tallest) for x, y in points]
    noise = random.Random(1)
    return [(x / 50, 2 * x / 50 - 1 + noise.gauss(0, 0.1)) for x in range(100)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--shuffle", type=lambda text: text == "True", default=False)
    # A sweep may send parameters that this small training has no use for.
    known, _ = parser.parse_known_args()
    main(**vars(known))
