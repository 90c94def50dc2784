"""What the starter finds around it on a bare machine: its command line, its variables, and its PATH.

It travels into the training: standard library only.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.training.bare.running import container
from orchestrator.training.starter.machine import HOME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.training.bare.assignment import Assignment

_MPI = "/opt/amazon/openmpi/bin"
"""The folder of mpirun in AWS's images for GPUs, which is in the PATH of those who log in only."""
_PACKAGE = str(Path(__file__).parents[4])


class Surroundings:
    """This machine, as a training's process sees it."""

    def __init__(self, assignment: Assignment, base: Path, environ: Mapping[str, str]) -> None:
        self._assignment = assignment
        self._base = base
        self._environ = environ
        self._more: dict[str, str] = {}

    def add(self, variables: Mapping[str, str]) -> None:
        """Let the starter find these variables, too."""
        self._more.update(variables)

    def line(self) -> list[str]:
        """Return the line that runs the starter, in the assignment's container if it has one."""
        image, base = self._assignment.image, str(self._base)
        python = "python3" if image else shutil.which("python3", path=self._path()) or sys.executable
        code = f"import sys; sys.path.append({_PACKAGE!r}); from orchestrator.training.start import main"
        line = [python, "-I", "-c", f"{code}; sys.exit(main({base!r}))"]
        return container.contained(line, image, [base, _PACKAGE], self.variables()) if image else line

    def variables(self) -> dict[str, str]:
        """Return what the starter's environment is: that of a container of SageMaker's, and what AWS's tools need."""
        base = {} if str(self._base) == HOME else {"SAGEMAKER_BASE_DIR": str(self._base)}
        region = self._assignment.region
        return {
            **self.own(),
            **base,
            "AWS_REGION": region,
            "AWS_DEFAULT_REGION": region,
            "PIP_BREAK_SYSTEM_PACKAGES": "1",  # the machine is the training's alone
            "TRAINING_JOB_NAME": self._assignment.training,
            **self._more,
            **self._assignment.environment,
        }

    def own(self) -> dict[str, str]:
        """Return this machine's own environment, without what is for us alone."""
        own = {name: value for name, value in self._environ.items() if not name.startswith("SWEEP_")}
        return {**own, "PATH": self._path()}

    def _path(self) -> str:
        there = [folder for folder in self._assignment.path if Path(folder).is_dir()]
        return os.pathsep.join([*there, self._environ.get("PATH", os.defpath), _MPI])
