"""Tells the registries that the settings name who is champion, as far as they answer: they hold no promotion up.

What a registry has missed it is told the next time that a model is held against the champion.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator.aws.secret_values import read_secret
from orchestrator.errors import SweepError
from orchestrator.models.mlflow import MlflowRegistry
from orchestrator.models.model_registry import ModelRegistry
from orchestrator.training.references import Reference

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.models.promotion import Promotion
    from orchestrator.runs.cloud import Cloud

    Find = Callable[[str], Promotion | None]
    """Returns the newest promotion of a workload."""

log = logging.getLogger(__name__)


def tell_readers(workload: str, cloud: Cloud, find: Find) -> None:
    """Let each registry name the champion of a workload. One that is away or refuses is warned of."""
    if cloud.account.mlflow:
        _tell("MLflow", workload, find, lambda champion: _mlflow(cloud).point_to(champion))
    if cloud.account.model_registry:
        where = f"the SageMaker Model Registry of {cloud.account.model_registry}"
        _tell(where, workload, find, lambda champion: ModelRegistry(cloud).point_to(champion))


def _tell(registry: str, workload: str, find: Find, point_to: Callable[[Promotion], None]) -> None:
    try:
        champion = find(workload)
        while champion:
            point_to(champion)
            told, champion = champion.number, find(workload)
            # Whoever promotes meanwhile may have told it before us: the last word must not be ours then.
            if champion is None or champion.number == told:
                return
    except SweepError as error:
        log.warning("%s is not told who is champion of %s: %s", registry, workload, error)


def _mlflow(cloud: Cloud) -> MlflowRegistry:
    secret = cloud.account.mlflow_token
    token = read_secret(Reference.parse(secret), cloud.clients).strip() if secret else ""
    return MlflowRegistry(cloud.account.mlflow, token)
