"""A small network as a LightningModule, by `ddp` on the processes that torchrun has started: `parallel: torchrun`."""

import argparse
import os
import sys
from pathlib import Path

import lightning
import torch
from digits import CLASSES, fingerprint, load, report
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Digits(lightning.LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.lr = lr
        self.network = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, CLASSES))

    def training_step(self, batch, _):
        x, y = batch
        loss = nn.functional.cross_entropy(self.network(x), y)
        self.log("loss", loss, on_step=False, on_epoch=True, sync_dist=True)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        accuracy = (self.network(x).argmax(dim=1) == y).float().mean()
        self.log("accuracy", accuracy, sync_dist=True)

    def on_train_epoch_end(self):
        measured = self.trainer.callback_metrics
        if self.trainer.is_global_zero:
            report(self.current_epoch + 1, measured["loss"], measured["accuracy"])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.9)


def main(lr, batch, epochs):
    processes = int(os.environ["LOCAL_WORLD_SIZE"])
    size = int(os.environ["WORLD_SIZE"])
    training, validation = (TensorDataset(*map(torch.from_numpy, part)) for part in load())
    trainer = lightning.Trainer(
        strategy="ddp",
        devices=processes,
        num_nodes=size // processes,
        max_epochs=epochs,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )
    lightning.seed_everything(7)
    model = Digits(lr)
    loaders = (DataLoader(data, batch // size, shuffle=data is training) for data in (training, validation))
    trainer.fit(model, *loaders)

    fingerprint(trainer.global_rank, [w.detach().cpu().numpy() for w in model.parameters()])
    if trainer.is_global_zero:
        torch.save(model.network.state_dict(), Path(os.environ["SM_MODEL_DIR"]) / "model.pt")
    trainer.strategy.barrier()
    sys.stdout.flush()
    os._exit(0)  # gloo's threads abort the interpreter's own way out now and then


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=5)
    main(**vars(parser.parse_args()))
