"""Ten scripts, as they are: each finds its data, its flags and its parameters in the words that it takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.rules import read_sweep
from orchestrator.wire.result import TaskState
from tests.platforms.sagemaker.trainings import Desk, Trained

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Train = Callable[[str, Mapping[str, bytes]], Trained]

PROGRAMS = Path(__file__).parents[2] / ".scripts" / "bin"
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not (PROGRAMS.parent / ".installed").exists(), reason="the packages are not installed: `make scripts`"
    ),
]

WORDS = "low lower lowest new newer newest wide wider widest river"
TEXT = "".join(f"the {WORDS} runs low and wide {line}\n" for line in range(300)).encode()
REST = """
name: script
where: {instance_types: [ml.c5.xlarge]}
runtime: 0.1
"""


@pytest.fixture
def train(cloud_environment: dict[str, str], tmp_path: Path, name: str) -> Train:
    """Train the first point of a sweep whose file says this of `train` and `space`, on these files."""

    def run(text: str, data: Mapping[str, bytes]) -> Trained:
        path = tmp_path / "sweep.yaml"
        path.write_text(REST + text.replace("PROGRAMS", str(PROGRAMS)))
        desk = Desk(cloud_environment, name)
        desk.put(data)
        sweep = read_sweep(path)
        trained = desk.train(sweep, sweep.points.point(0))
        assert trained.outcome.state is TaskState.DONE, "\n".join(trained.log)
        assert "train.command" in trained.request.started_by
        return trained

    return run


def test_a_subcommand_with_a_flag_that_a_sweep_turns_on_and_off(train: Train) -> None:
    """`subword-nmt learn-bpe --total-symbols` counts letters as symbols too, so that fewer are merged."""
    sweep = """
train:
  image: any
  command: PROGRAMS/subword-nmt learn-bpe --input {data}/text.txt --output /opt/ml/model/codes {arguments}
  arguments: {style: dashes, on_off: flag}
space: {symbols: [60], total_symbols: [%s]}
"""

    def merges(total: str) -> int:
        model = train(sweep % total, {"text.txt": TEXT}).model
        return len(model["codes"].splitlines())

    assert 0 < merges("true") < 61


def test_options_of_one_dash(train: Train) -> None:
    trained = train(
        """
train:
  image: any
  command: >-
    PROGRAMS/python -m gensim.scripts.word2vec_standalone
    -train {data}/text.txt -output /opt/ml/model/words.vec -size {size} -cbow {cbow} -iter 2
space: {size: [8, 16], cbow: [0, 1]}
""",
        {"text.txt": TEXT},
    )
    assert trained.model["words.vec"].splitlines()[0].split()[1] == b"8"


def test_short_options_and_flags(train: Train) -> None:
    rows = "".join(f"{row % 2} | a:{row % 7} b:{row % 3}\n" for row in range(200)).encode()
    trained = train(
        """
train:
  image: any
  command: >-
    PROGRAMS/python -m vowpalwabbit -d {data}/rows.vw -f /opt/ml/model/vw --cache_file /opt/ml/model/c {arguments}
  arguments: {on_off: flag}
  hyperparameters: {k: true, holdout_off: true, passes: 3}
  metrics: {loss: 'average loss = ([0-9.]+)'}
space: {l: [0.25, 0.5]}
""",
        {"rows.vw": rows},
    )
    assert trained.said("learning rate = ") == ["0.25"]
    assert trained.said("passes used = ") == ["3"]
    assert trained.outcome.metrics["loss"] > 0


def test_a_positional_argument_behind_the_options(train: Train) -> None:
    trained = train(
        """
train:
  image: any
  command: PROGRAMS/morfessor-train {arguments} {data}/words.txt
  arguments: {joined: true, style: dashes}
  hyperparameters: {save_segmentation: /opt/ml/model/words.txt}
space: {dampening: [log, ones]}
""",
        {"words.txt": WORDS.replace(" ", "\n").encode()},
    )
    assert b"new" in trained.model["words.txt"]


def test_options_with_dots(train: Train) -> None:
    """spaCy's own form of data is made by spaCy, beforehand."""
    trained = train(
        """
train:
  image: any
  command:
    - sh
    - -c
    - |
      PROGRAMS/python -m spacy convert {data}/train.conllu . -n 5 &&
      PROGRAMS/python -m spacy init config tagger.cfg --lang en --pipeline tagger &&
      exec PROGRAMS/python -m spacy train tagger.cfg --output /opt/ml/model "$@"
    - sh
    - "{arguments}"
  hyperparameters: {paths.train: train.spacy, paths.dev: train.spacy, training.eval_frequency: 5}
space: {training.max_steps: [10, 20]}
""",
        {"train.conllu": TREEBANK},
    )
    assert json.loads(trained.model["model-last/meta.json"])["pipeline"] == ["tok2vec", "tagger"]
    assert b"max_steps = 10" in trained.model["model-last/config.cfg"]


TREEBANK = "".join(
    "# text = Wide rivers run\n"
    "1\tWide\twide\tADJ\tJJ\t_\t2\tamod\t_\t_\n"
    "2\trivers\triver\tNOUN\tNNS\t_\t3\tnsubj\t_\t_\n"
    "3\trun\trun\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"
    for _ in range(20)
).encode()


def test_a_flag_and_underscores(train: Train) -> None:
    trained = train(
        """
train:
  image: any
  command: PROGRAMS/python -m stanza.models.charlm --save_dir /opt/ml/model {arguments}
  arguments: {on_off: flag}
  environment: {OMP_NUM_THREADS: "1"}
  hyperparameters:
    train_file: /opt/ml/input/data/training/text.txt
    eval_file: /opt/ml/input/data/training/text.txt
    shorthand: en_tiny
    save_name: model.pt
    char_emb_dim: 8
    char_hidden_dim: 16
    batch_size: 4
    bptt_size: 50
    cutoff: 1
    epochs: 1
    cpu: true
    no_checkpoint: true
  metrics: {loss: 'eval checkpoint .* loss  ([0-9.]+)'}
space: {lr0: [2.5, 5.0]}
""",
        {"text.txt": TEXT},
    )
    assert "model.pt" in trained.model
    assert trained.said("lr0: ") == ["2.5"]
    assert trained.outcome.metrics["loss"] > 0


def test_a_framework_that_reads_the_container_s_own_files(train: Train) -> None:
    """GluonTS reads hyperparameters and channels by itself. Under it is Lightning, which asks for MPI at its start."""
    series = {"start": "2026-01-01 00:00:00", "target": [float(hour % 24) for hour in range(96)]}
    trained = train(
        """
train:
  image: any
  command: PROGRAMS/python -m gluonts.shell train --data-path /opt/ml --forecaster {forecaster}
  data_channel: train
  environment: {OMP_NUM_THREADS: "1"}
  hyperparameters:
    forecaster: gluonts.torch.SimpleFeedForwardEstimator
    freq: h
    num_batches_per_epoch: 2
space: {prediction_length: [6, 12]}
""",
        {"data.json": "\n".join(json.dumps(series) for _ in range(3)).encode()},
    )
    assert any("prediction_length=6" in line for line in trained.log)
    assert trained.said("data channels: ") == ["train"]
    assert trained.model


def test_an_option_with_several_words_and_a_configuration_among_the_data(train: Train) -> None:
    configuration = b"CartPole-v1:\n  n_timesteps: 128\n  policy: MlpPolicy\n  n_steps: 32\n  batch_size: 32\n"
    trained = train(
        """
train:
  image: any
  command: >-
    PROGRAMS/python -m rl_zoo3.train --algo ppo --env {env} --conf-file {data}/ppo.yml --log-folder /opt/ml/model
    --eval-freq -1 --device cpu -params learning_rate:{learning_rate} n_epochs:1
  environment: {OMP_NUM_THREADS: "1"}
  metrics: {reward: 'ep_rew_mean +\\| ([0-9.]+)'}
space: {learning_rate: [0.002, 0.004], env: [CartPole-v1]}
""",
        {"ppo.yml": configuration},
    )
    told = next(body for name, body in trained.model.items() if name.endswith("/config.yml"))
    assert b"- - learning_rate\n    - 0.002" in told
    assert trained.outcome.metrics["reward"] > 0


def test_a_module_under_torchrun(train: Train) -> None:
    pytest.importorskip("torch", reason="torchrun is PyTorch's: `make torch`")
    trained = train(
        """
train:
  image: any
  command: PROGRAMS/python -m accelerate.test_utils.scripts.test_sync
  parallel: torchrun
  processes_per_instance: 2
  environment: {OMP_NUM_THREADS: "1"}
""",
        {"none.txt": b"it makes its own"},
    )
    assert any("Distributed environment" in line or "gradient accumulation" in line for line in trained.log)


def test_a_module_under_mpirun(train: Train) -> None:
    trained = train(
        """
train:
  image: any
  command: python -m mpi4py.bench pingpong {arguments}
  arguments: {style: dashes, on_off: flag}
  parallel: mpi
  processes_per_instance: 2
  hyperparameters: {no_header: true, no_stats: true, min_size: 8}
space: {max_size: [16, 32]}
""",
        {"none.txt": b"it makes its own"},
    )
    assert [line.split()[0] for line in trained.said("[1,mpirank:0,algo-1]<stdout>:")] == ["8", "16"]
