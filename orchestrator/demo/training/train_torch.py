"""Learn to steer: the same small network with PyTorch's DistributedDataParallel, on CPUs."""

import argparse
import gc
import os
from pathlib import Path

import torch
import torch.distributed as dist
from recordings import load
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from orchestrator import report

HIDDEN = 32


def main(learning_rate: float, batch_size: int, epochs: int) -> None:
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)  # ranks share the cores
    torch.manual_seed(7)  # the same on every rank: same weights, same order
    training, validation = load()
    x, y = map(torch.from_numpy, training)

    network = nn.Sequential(
        *(nn.Linear(x.shape[1], HIDDEN), nn.Tanh()), *(nn.Linear(HIDDEN, HIDDEN), nn.Tanh()), nn.Linear(HIDDEN, 1)
    )
    model = DistributedDataParallel(network)
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)

    for epoch in range(1, epochs + 1):
        order, losses = torch.randperm(len(x)), []
        for start in range(0, len(x) - batch_size + 1, batch_size):
            mine = order[start : start + batch_size][rank::world_size]
            loss = nn.functional.mse_loss(model(x[mine]), y[mine])
            optimizer.zero_grad()
            loss.backward()  # averages the gradients over all ranks
            optimizer.step()
            losses.append(float(loss.detach()))
        val_loss = evaluate(network, *map(torch.from_numpy, validation))
        report(step=epoch, loss=sum(losses) / len(losses), val_loss=val_loss)

    if rank == 0:
        torch.save(network.state_dict(), Path(os.environ["SM_MODEL_DIR"]) / "model.pt")
    del model, optimizer, network, loss
    gc.collect()  # gloo's threads must hold nothing of ours when the interpreter goes, or it aborts now and then
    dist.barrier()
    dist.destroy_process_group()


@torch.no_grad()
def evaluate(network: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    return float(nn.functional.mse_loss(network(x), y))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--learning_rate", type=float, required=True)
    parser.add_argument("--batch_size", type=int, required=True)
    parser.add_argument("--epochs", type=int, default=8)
    main(**vars(parser.parse_args()))
