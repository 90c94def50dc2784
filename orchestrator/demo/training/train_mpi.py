"""Learn to steer: a small network in numpy, trained by all MPI ranks together.

Every rank works on its own part of each batch; the gradients are summed over the ranks (MPI_Allreduce), so all take the
same step and hold the same weights.
"""

import argparse
import os
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: ranks share the cores, threads would fight

import numpy as np
from mpi4py import MPI
from recordings import load

from orchestrator import report

HIDDEN = 32


def main(learning_rate: float, batch_size: int, epochs: int, momentum: float = 0.9) -> None:
    world = MPI.COMM_WORLD
    (x, y), validation = load()
    random = np.random.default_rng(7)  # the same on every rank: same weights, same order
    weights = initial(random, [x.shape[1], HIDDEN, HIDDEN, 1])
    velocity = [np.zeros_like(w) for w in weights]

    for epoch in range(1, epochs + 1):
        order, losses = random.permutation(len(x)), []
        for start in range(0, len(x) - batch_size + 1, batch_size):
            mine = order[start : start + batch_size][world.rank :: world.size]
            loss, gradients = backward(weights, x[mine], y[mine], batch_size)
            loss, gradients = summed(world, loss, gradients)
            losses.append(loss)
            for w, v, g in zip(weights, velocity, gradients, strict=True):
                v *= momentum
                v -= learning_rate * g
                w += v
        val_loss = np.mean((forward(weights, validation[0])[-1] - validation[1]) ** 2)
        report(step=epoch, loss=np.mean(losses), val_loss=val_loss)

    if world.rank == 0:
        np.savez(Path(os.environ["SM_MODEL_DIR"]) / "model.npz", *weights)


def initial(random, sizes):
    """Return weights and biases, layer by layer."""
    layers = []
    for n_in, n_out in pairwise(sizes):
        layers += [random.standard_normal((n_in, n_out)).astype(np.float32) / np.sqrt(n_in, dtype=np.float32)]
        layers += [np.zeros(n_out, dtype=np.float32)]
    return layers


def forward(weights, x):
    """Return the outputs of all layers; tanh is between them."""
    outputs = [x]
    for k in range(0, len(weights), 2):
        z = outputs[-1] @ weights[k] + weights[k + 1]
        outputs.append(z if k == len(weights) - 2 else np.tanh(z))
    return outputs


def backward(weights, x, y, batch_size):
    """Return this rank's part of the batch's mean squared error, and of its gradients."""
    outputs = forward(weights, x)
    error = outputs[-1] - y
    delta, gradients = 2 * error / batch_size, []
    for k in range(len(weights) - 2, -1, -2):
        layer = outputs[k // 2]
        gradients = [layer.T @ delta, delta.sum(axis=0), *gradients]
        delta = (delta @ weights[k].T) * (1 - layer**2)
    return float((error**2).sum()) / batch_size, gradients


def summed(world, loss, gradients):
    """Return the sums over all ranks of the loss and the gradients, sent in one message."""
    message = np.concatenate([np.float32([loss]), *(g.ravel() for g in gradients)])
    world.Allreduce(MPI.IN_PLACE, message, op=MPI.SUM)
    parts = np.split(message[1:], np.cumsum([g.size for g in gradients])[:-1])
    return float(message[0]), [part.reshape(g.shape) for part, g in zip(parts, gradients, strict=True)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--learning_rate", type=float, required=True)
    parser.add_argument("--batch_size", type=int, required=True)
    parser.add_argument("--epochs", type=int, default=8)
    main(**vars(parser.parse_args()))
