"""A training that writes down of itself when it begins and ends, and whether another of its task is alive.

It may keep checkpoints, and it may fail, as long as a file of its run says so.
"""

import argparse
import fcntl
import json
import os
import pathlib
import time

parser = argparse.ArgumentParser()
parser.add_argument("-x", "--x", type=int)
parser.add_argument("--hang", type=float, default=0.0)
parser.add_argument("--stays", type=int, default=0)  # until all is calm, so that it can be taken away
options, _ = parser.parse_known_args()
PARTS, PART_BYTES = 5, 2000
"""Files of a checkpoint, all of the same size: what a move costs is known beforehand."""
training = os.environ["TRAINING_JOB_NAME"]
rank = os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK", os.environ.get("LOCAL_RANK", "0"))
hosts = json.loads(os.environ.get("SM_HOSTS", '["algo-1"]'))  # on bare machines they may be addresses
host = f"algo-{hosts.index(os.environ.get('SM_CURRENT_HOST', hosts[0])) + 1}" + ("" if rank == "0" else f"-{rank}")
run, task, attempt = training.rsplit("-", 2)
folder = pathlib.Path(os.environ["CHAOS_FOLDER"], run)
folder.mkdir(parents=True, exist_ok=True)


def train_with_checkpoints():
    """Train four steps or more, each saved. What is loaded must be what this task has saved last, and whole."""
    from orchestrator import Checkpoints

    saved = folder / f"{task}.steps"
    together = join_others()
    loaded = -1

    def save(path):
        path.mkdir()
        for part in range(PARTS):
            (path / str(part)).write_text(f"{task:>8} {step:>8}".ljust(PART_BYTES))
        if rank == "0":
            draft = saved.with_suffix(f".{os.getpid()}")  # who is killed here must not leave an empty file
            draft.write_text(str(step))
            draft.replace(saved)

    def load(path):
        nonlocal loaded
        parts = {(path / str(part)).read_text() for part in range(PARTS)}
        whose, last = min(parts).split()
        loaded = int(last)
        if len(parts) > 1 or whose != task or loaded > int(saved.read_text() if saved.exists() else "-1"):
            (folder / f"{task}.{host}.strange").write_text(f"{training} goes on after step {last} of task {whose}")

    checkpoints = Checkpoints(save=save, load=load, every_s=0.0)
    for number, step in enumerate(checkpoints.steps(10_000 if options.stays else 4)):
        if number == 0 and host == "algo-1":
            note_start(loaded)
        print(f"step {step}")
        time.sleep(options.hang if not options.stays else 0.3)
        if not together(not options.stays or step < 3 or not folder.with_name("calm").exists()):
            break


def note_start(loaded):
    """Write down after which step this process goes on; -1 if it begins anew."""
    with (folder / f"{task}.loaded").open("a") as file:
        file.write(f"{attempt} {loaded}\n")


def join_others():
    """Return what tells all processes of an elastic training the first one's yes or no."""
    if not options.stays or "TORCHELASTIC_RUN_ID" not in os.environ:
        return lambda said: said
    import torch.distributed as dist

    def agree(said):
        told = [said]
        dist.broadcast_object_list(told)
        return told[0]

    dist.init_process_group("gloo")
    return agree


with (folder / f"{task}.{host}.alive").open("w") as mark:
    try:
        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        (folder / f"{task}.{host}.twice").write_text(training)
    with (folder / "trainings").open("a") as trainings:
        trainings.write(f"{training}\n")
    with (folder / "begun").open("a") as begun:
        begun.write(f"{task} {attempt} {host} {time.time()}\n")
    if folder.with_name(f"{run}.broken").exists():
        raise ValueError("there is no column 'label'")
    if "SWEEP_CHECKPOINT_EVERY_S" in os.environ:
        train_with_checkpoints()
    time.sleep(options.hang)
    print(f"loss={options.x + 1}.5")
    pathlib.Path(os.environ["SM_MODEL_DIR"], "model.txt").write_text(training)
    with (folder / "finished").open("a") as finished:
        finished.write(f"{task} {attempt} {host} {time.time()}\n")
