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
options, _ = parser.parse_known_args()
training = os.environ["TRAINING_JOB_NAME"]
rank = os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK", os.environ.get("LOCAL_RANK", "0"))
hosts = json.loads(os.environ.get("SM_HOSTS", '["algo-1"]'))  # on bare machines they may be addresses
host = f"algo-{hosts.index(os.environ.get('SM_CURRENT_HOST', hosts[0])) + 1}" + ("" if rank == "0" else f"-{rank}")
run, task, attempt = training.rsplit("-", 2)
folder = pathlib.Path(os.environ["CHAOS_FOLDER"], run)
folder.mkdir(parents=True, exist_ok=True)


def train_with_checkpoints():
    """Train four steps, each saved. What is loaded must be what this task has saved last."""
    from orchestrator import Checkpoints

    saved = folder / f"{task}.steps"

    def save(path):
        path.write_text(f"{task} {step}")
        if rank == "0":
            saved.write_text(str(step))

    def load(path):
        whose, last = path.read_text().split()
        if whose != task or int(last) > int(saved.read_text() if saved.exists() else "-1"):
            (folder / f"{task}.{host}.strange").write_text(f"{training} goes on after step {last} of task {whose}")

    checkpoints = Checkpoints(save=save, load=load, every_s=0.0)
    for step in checkpoints.steps(4):
        print(f"step {step}")
        time.sleep(options.hang)


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
