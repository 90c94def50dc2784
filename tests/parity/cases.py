"""The trainings to compare: every way of starting processes, and all that a sweep may ask for beside it."""

from __future__ import annotations

from orchestrator.wire.task import Purchase
from tests.parity.asked_cases import ASKED
from tests.parity.case import HERE, PLAN, RUN, case, framework, image
from tests.parity.start_cases import STARTS

PT28, PT22, TF219, TF211 = (
    framework("2.8.0", "py312"),
    framework("2.2.0", "py310"),
    framework("2.19.0", "py312", "tensorflow"),
    framework("2.11.0", "py39", "tensorflow"),
)
HF = (
    {"framework": {"name": "huggingface", "version": "4.36.0", "python": "py310", "base": "pytorch2.1.0"}},
    {"transformers_version": "4.36.0", "pytorch_version": "2.1.0", "py_version": "py310"},
)
SKLEARN = framework("1.2-1", "py3", "sklearn")
XGBOOST = ({"framework": {"name": "xgboost", "version": "1.7-1"}}, {"framework_version": "1.7-1"})
MPI = {"mpi": {"enabled": True, "processes_per_host": 8, "custom_mpi_options": "-x NCCL_DEBUG=WARN"}}
TORCHRUN = {"torch_distributed": {"enabled": True}}
SMDDP = {"smdistributed": {"dataparallel": {"enabled": True}}}
PYTORCHDDP = {"pytorchddp": {"enabled": True}}
EVERYTHING = {
    "hyperparameters": {"momentum": 0.9, "layers": 3},
    "metrics": {"loss": "loss=([0-9.]+)", "accuracy": "accuracy: ([0-9.]+)%"},
    "environment": {"MODE": "fast"},
    "checkpoints": {"every": "5m"},
    "volume_gb": 100,
}

WAYS = (
    case("single", PT28, {}, None),
    case("single, TensorFlow", TF219, {}, None, estimator="tensorflow"),
    case(
        "single, with everything, on spot",
        PT28,
        EVERYTHING,
        None,
        purchase=Purchase.SPOT,
        arguments={
            "metric_definitions": [{"Name": name, "Regex": regex} for name, regex in EVERYTHING["metrics"].items()],
            "environment": {"MODE": "fast"},
            "checkpoint_s3_uri": f"{HERE}/runs/{RUN}/checkpoints/0",
            "volume_size": 100,
        },
    ),
    case("single, on CPU", PT28, {}, None, instance_type="ml.c5.4xlarge"),
    case(
        "single, in a training plan",
        PT28,
        {},
        None,
        instance_type="ml.p4d.24xlarge",
        purchase=Purchase.COMMITTED,
        arguments={"training_plan": PLAN},
    ),
    case(
        "horovod, own image",
        image(),
        {"parallel": "horovod", "instances": 4, "processes_per_instance": 8, "mpi_options": "-x NCCL_DEBUG=WARN"},
        MPI,
        instance_type="ml.p3.16xlarge",
    ),
    case(
        "horovod, TensorFlow 2.11",
        TF211,
        {"parallel": "horovod", "instances": 2, "processes_per_instance": 8, "mpi_options": "-x NCCL_DEBUG=WARN"},
        MPI,
        estimator="tensorflow",
        instance_type="ml.p3.16xlarge",
    ),
    case("mpi, as many as GPUs", PT28, {"parallel": "mpi"}, {"mpi": {"enabled": True}}),
    case(
        "mpi, over EFA",
        PT28,
        {"parallel": "mpi", "instances": 2, "processes_per_instance": 8, "mpi_options": "-x NCCL_DEBUG=WARN"},
        MPI,
        instance_type="ml.p4d.24xlarge",
    ),
    case("torchrun", PT28, {"parallel": "torchrun"}, TORCHRUN, instance_type="ml.g5.12xlarge"),
    case("torchrun, over EFA", PT28, {"parallel": "ddp", "instances": 2}, TORCHRUN, instance_type="ml.p4d.24xlarge"),
    case(
        "torchrun, auto",
        PT28,
        {"parallel": "torchrun", "processes_per_instance": "auto"},
        TORCHRUN,
        instance_type="ml.g5.12xlarge",
    ),
    case("torchrun, own image, Trainium", image(), {"parallel": "ddp"}, TORCHRUN, instance_type="ml.trn1.32xlarge"),
    case("lightning", image(), {"parallel": "torchrun"}, TORCHRUN, instance_type="ml.g5.48xlarge"),
    case("smddp", PT22, {"parallel": "smddp", "instances": 2}, SMDDP, instance_type="ml.p4d.24xlarge"),
    case(
        "smddp, TensorFlow",
        TF211,
        {"parallel": "smddp"},
        SMDDP,
        estimator="tensorflow",
        instance_type="ml.p3dn.24xlarge",
    ),
    case("torchrun, Hugging Face", HF, {"parallel": "torchrun"}, TORCHRUN, estimator="huggingface"),
    case("single, scikit-learn", SKLEARN, {}, None, estimator="sklearn", instance_type="ml.m5.xlarge"),
    case("single, XGBoost", XGBOOST, {"instances": 2}, None, estimator="xgboost", instance_type="ml.m5.xlarge"),
    case(
        "scikit-learn on a GPU",
        SKLEARN,
        {},
        None,
        estimator="sklearn",
        we_refuse="AWS's sklearn images do not run on ml.g5.xlarge",
        they_refuse="Unsupported processor: gpu",
        reason="both refuse",
    ),
    case("pytorchddp", PT22, {"parallel": "pytorchddp"}, PYTORCHDDP, instance_type="ml.p4d.24xlarge"),
    case(
        "torchrun on CPU",
        PT28,
        {"parallel": "torchrun"},
        TORCHRUN,
        instance_type="ml.c5.4xlarge",
        they_refuse="Currently torch_distributed is supported only for GPU and Trainium instances",
        reason="torchrun starts there with gloo: the image's launcher knows no such limit",
    ),
    case(
        "torchrun, PyTorch 2.4.0",
        framework("2.4.0", "py311"),
        {"parallel": "torchrun"},
        TORCHRUN,
        they_refuse="Provided framework_version 2.4.0 is not supported by torch_distributed",
        reason="the image exists and starts torchrun as its neighbours do: the SDK's list has left it out",
    ),
    case(
        "smddp, PyTorch 2.3.0",
        framework("2.3.0", "py311"),
        {"parallel": "smddp"},
        SMDDP,
        instance_type="ml.p4d.24xlarge",
        they_refuse="Provided framework_version 2.3.0 is not supported by smdataparallel",
        reason="AWS documents SMDDP 2.3.0 in this image: the SDK's list ends before it",
    ),
    case(
        "smddp on g5",
        PT22,
        {"parallel": "smddp"},
        SMDDP,
        we_refuse="smddp does not run on ml.g5.xlarge",
        reason="the SDK looks at ml.p5.48xlarge only; the library itself runs on its listed types",
    ),
    case(
        "horovod, PyTorch 2.8",
        PT28,
        {"parallel": "horovod"},
        MPI,
        we_refuse="AWS's pytorch 2.8.0 images have no Horovod",
        reason="the SDK knows `mpi` only, and the script would fail at `import horovod`",
    ),
)

CASES = (*WAYS, *STARTS, *ASKED)
