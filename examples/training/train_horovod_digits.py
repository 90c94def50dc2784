"""A small network under Horovod, which averages the gradients of all MPI ranks: `parallel: horovod`."""

import argparse
import os
from pathlib import Path

import horovod.torch as hvd
import torch
from digits import CLASSES, fingerprint, load, report
from torch import nn


def main(lr, batch, epochs):
    hvd.init()
    device = torch.device("cuda", hvd.local_rank()) if torch.cuda.is_available() else torch.device("cpu")
    torch.set_num_threads(1)  # ranks share the cores
    torch.manual_seed(7)  # the same on every rank: the same order
    (x, y), (x_val, y_val) = ([torch.from_numpy(a).to(device) for a in part] for part in load())

    network = nn.Sequential(nn.Linear(x.shape[1], 64), nn.ReLU(), nn.Linear(64, CLASSES)).to(device)
    optimizer = torch.optim.SGD(network.parameters(), lr=lr, momentum=0.9)
    hvd.broadcast_parameters(network.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=network.named_parameters())

    for epoch in range(1, epochs + 1):
        order, losses = torch.randperm(len(x)), []
        for start in range(0, len(x) - batch + 1, batch):
            mine = order[start : start + batch][hvd.rank() :: hvd.size()]
            loss = nn.functional.cross_entropy(network(x[mine]), y[mine])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()  # with the average of all ranks' gradients
            losses.append(loss.detach())
        mean = hvd.allreduce(torch.stack(losses).mean(), name="loss")
        if hvd.rank() == 0:
            with torch.no_grad():
                accuracy = (network(x_val).argmax(dim=1) == y_val).float().mean()
            report(epoch, mean, accuracy)

    fingerprint(hvd.rank(), [w.detach().cpu().numpy() for w in network.parameters()])
    if hvd.rank() == 0:
        torch.save(network.state_dict(), Path(os.environ["SM_MODEL_DIR"]) / "model.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=5)
    main(**vars(parser.parse_args()))
