"""A small network under DistributedDataParallel: `parallel: torchrun`. On GPUs where there are any, else on CPUs."""

import argparse
import gc
import os
from pathlib import Path

import torch
import torch.distributed as dist
from digits import CLASSES, fingerprint, load, report
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main(lr, batch, epochs, backend=None):
    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if on_gpu else torch.device("cpu")
    dist.init_process_group(backend or ("nccl" if on_gpu else "gloo"))
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(7)  # the same on every rank: the same weights, the same order
    (x, y), (x_val, y_val) = ([torch.from_numpy(a).to(device) for a in part] for part in load())

    network = nn.Sequential(nn.Linear(x.shape[1], 64), nn.ReLU(), nn.Linear(64, CLASSES)).to(device)
    model = DistributedDataParallel(network)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    for epoch in range(1, epochs + 1):
        order, losses = torch.randperm(len(x)), []
        for start in range(0, len(x) - batch + 1, batch):
            mine = order[start : start + batch][rank::size]
            loss = nn.functional.cross_entropy(model(x[mine]), y[mine])
            optimizer.zero_grad()
            loss.backward()  # averages the gradients over all ranks
            optimizer.step()
            losses.append(loss.detach())
        if rank == 0:
            with torch.no_grad():
                accuracy = (network(x_val).argmax(dim=1) == y_val).float().mean()
            report(epoch, torch.stack(losses).mean(), accuracy)

    fingerprint(rank, [w.detach().cpu().numpy() for w in network.parameters()])
    if rank == 0:
        torch.save(network.state_dict(), Path(os.environ["SM_MODEL_DIR"]) / "model.pt")
    del model, network, optimizer, loss, losses
    gc.collect()  # gloo's threads must hold nothing of ours when the interpreter goes, or it aborts now and then
    dist.barrier()
    dist.destroy_process_group()


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=5)
    return vars(parser.parse_args())


if __name__ == "__main__":
    main(**options())
