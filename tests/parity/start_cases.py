"""What trainings start, as far as AWS's toolkit or the image can start it: the SDK sends the same."""

from __future__ import annotations

from tests.parity.case import POINT, case, framework, image

PT28 = framework("2.8.0", "py312")
MPI = {"mpi": {"enabled": True, "processes_per_host": 8, "custom_mpi_options": "-x NCCL_DEBUG=WARN"}}

STARTS = (
    case(
        "names with dashes",
        PT28,
        {"arguments": {"style": "dashes"}},
        None,
        arguments={"hyperparameters": {name.replace("_", "-"): value for name, value in POINT.items()}},
    ),
    case("a shell script", PT28, {"entry_point": "run.sh"}, None, arguments={"entry_point": "run.sh"}),
    case(
        "a shell script under mpi",
        PT28,
        {"parallel": "mpi", "entry_point": "run.sh", "processes_per_instance": 8, "mpi_options": "-x NCCL_DEBUG=WARN"},
        MPI,
        arguments={"entry_point": "run.sh"},
    ),
    case(
        "parameters as variables",
        PT28,
        {"environment": {"LR": "{lr}", "DATA": "{data}"}},
        None,
        arguments={"environment": {"LR": "0.001", "DATA": "/opt/ml/input/data/training"}},
    ),
    case(
        "what the image starts",
        image(),
        {"entry_point": "image", "source": None},
        None,
        estimator="estimator",
        arguments={"entry_point": None, "source_dir": None},
    ),
)
