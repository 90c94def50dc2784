"""A Metaflow flow with one step on AWS Batch."""

from __future__ import annotations

from metaflow import FlowSpec, batch, step


class TrainFlow(FlowSpec):
    """Trains one step on Batch, and looks at what it has left."""

    @step
    def start(self) -> None:
        self.rate = 0.5
        self.next(self.train)

    @batch(cpu=1, memory=512)
    @step
    def train(self) -> None:
        self.loss = self.rate / 2
        self.next(self.end)

    @step
    def end(self) -> None:
        print("loss", self.loss)  # noqa: T201


if __name__ == "__main__":
    TrainFlow()
