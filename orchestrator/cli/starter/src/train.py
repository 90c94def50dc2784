"""One training: reads its point from the options, its data from SM_CHANNEL_TRAINING, and logs its metrics."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path


def main() -> None:
    options = _options()
    data = Path(os.environ.get("SM_CHANNEL_TRAINING", "."))
    files = sum(1 for path in data.rglob("*") if path.is_file())
    print(f"training on {files} files, batches of {options.batch_size}")

    weight, loss = 0.0, 1.0
    for epoch in range(options.epochs):  # replace this with your model
        weight += options.learning_rate * (1.0 - weight)
        loss = (1.0 - weight) ** 2
        print(f"epoch={epoch} loss={loss:.6f}")

    model = Path(os.environ.get("SM_MODEL_DIR", "."))
    (model / "model.json").write_text(json.dumps({"weight": weight, "loss": loss}))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--batch-size", type=int, default=32)
    return parser.parse_known_args()[0]


if __name__ == "__main__":
    main()
