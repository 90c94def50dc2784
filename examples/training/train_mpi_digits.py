"""Softmax regression in numpy, by all MPI ranks together: `parallel: mpi`.

Every rank takes its part of each batch; the gradients are summed over the ranks, so all take the same step.
"""

import argparse
import os
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: ranks share the cores, threads would fight

import numpy as np
from digits import CLASSES, fingerprint, load, report
from mpi4py import MPI


def main(lr, batch, epochs):
    world = MPI.COMM_WORLD
    (x, y), (x_val, y_val) = load()
    weights = np.zeros((x.shape[1] + 1, CLASSES), dtype=np.float32)  # the last row: biases
    random = np.random.default_rng(7)  # the same on every rank: the same order

    for epoch in range(1, epochs + 1):
        order, losses = random.permutation(len(x)), []
        for start in range(0, len(x) - batch + 1, batch):
            mine = order[start : start + batch][world.rank :: world.size]
            loss, gradient = backward(weights, x[mine], y[mine])
            message = np.append(gradient.ravel(), np.float32(loss))
            world.Allreduce(MPI.IN_PLACE, message, op=MPI.SUM)  # gradient and loss in one message
            weights -= lr * message[:-1].reshape(weights.shape) / batch
            losses.append(message[-1] / batch)
        if world.rank == 0:
            report(epoch, np.mean(losses), np.mean(scores(weights, x_val).argmax(axis=1) == y_val))

    fingerprint(world.rank, [weights])
    if world.rank == 0:
        np.savez(Path(os.environ["SM_MODEL_DIR"]) / "model.npz", weights=weights)


def scores(weights, x):
    return x @ weights[:-1] + weights[-1]


def backward(weights, x, y):
    """Sums over these pictures: of the cross-entropy, and of its gradient."""
    z = scores(weights, x)
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    rows = np.arange(len(y))
    loss = -np.log(p[rows, y]).sum()
    p[rows, y] -= 1
    return loss, np.vstack([x.T @ p, p.sum(axis=0)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.5)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=5)
    main(**vars(parser.parse_args()))
