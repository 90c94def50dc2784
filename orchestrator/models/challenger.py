"""Finds the task of a run that is held against the champion, and all that its model was made of."""

from __future__ import annotations

import logging
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

from orchestrator.errors import SweepError, UsageError
from orchestrator.models.data_mark import mark_folder
from orchestrator.models.evaluation import evaluation_of
from orchestrator.models.judge import judge, judge_alone, may_be_better
from orchestrator.models.promotion import TrainedModel
from orchestrator.platforms.registry import make_operating
from orchestrator.runs.written.plan_now import planned_now
from orchestrator.spec.workload.promote import Promote
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.models.promotion import Promotion
    from orchestrator.runs.run import Run
    from orchestrator.runs.views.tasks import TaskRow
    from orchestrator.wire.result import Outcome
    from orchestrator.wire.task import Lane

    Marks = Callable[[str, str], str]
    """Returns the mark of a dataset in a Region; nothing where nobody knows it."""

log = logging.getLogger(__name__)

MOST_LOOKED_AT = 100
"""The best so many tasks of a run are looked at for one that keeps to the rules."""


def find_challenger(run: Run, marks: Marks, champion: Promotion | None) -> TrainedModel:
    """Return the best task of a run that is better than the champion by the rules, or else the best that could be one.

    A task that looks best but breaks a guard, as after broken data, does not hide the others. UsageError if no task is
    done.
    """
    return _with_data_mark(run, _choose(run, marks, champion))


def _choose(run: Run, marks: Marks, champion: Promotion | None) -> TrainedModel:
    done = [row for row in run.results() if row.state is TaskState.DONE]
    if not done:
        raise UsageError(
            "none of its tasks is done", where=run.name, hint=f"`sweep status {run.name}` says how it stands"
        )
    rules = run.plan.sweep.promote or Promote()
    looked_at = []
    for row in done[:MOST_LOOKED_AT]:
        found = _describe(run, row, marks)
        if judge(found, champion, rules).better:
            return found
        looked_at.append(found)
        if judge_alone(found, rules) is None and not may_be_better(found, champion):
            break
    return next((found for found in looked_at if judge_alone(found, rules) is None), looked_at[0])


def named_challenger(run: Run, task: int, marks: Marks) -> TrainedModel:
    """Return this task of a run. UsageError if it is not done."""
    row = run.results(Ranges.of([task]))[0]
    if row.state is not TaskState.DONE:
        hint = f"`sweep results {run.name}` lists those that are done"
        raise UsageError(f"task {task} is {row.state.value}, not done", where=run.name, hint=hint)
    return _with_data_mark(run, _describe(run, row, marks))


def _with_data_mark(run: Run, model: TrainedModel) -> TrainedModel:
    """Return the model with the mark of its data, by what lies there now where the catalog knows none."""
    if model.data_mark:
        return model
    last = _last_outcome(run, model.task)
    plan = planned_now(run.anchor, run.ledger.submissions(run.name)).plan
    read = [place.s3_uri for place in plan.share(model.task).places if place.lane.region == model.region]
    mark = mark_folder(read[0], model.region, last.started_at, run.cloud.clients) if read else ""
    return replace(model, data_mark=mark)


def _describe(run: Run, row: TaskRow, marks: Marks) -> TrainedModel:
    """Return a finished task with all that its model was made of, as far as the catalog knows its data."""
    sweep, objective = run.plan.sweep, run.plan.sweep.objective
    last = _last_outcome(run, row.task)
    mark = marks(row.dataset, row.region)
    return TrainedModel(
        workload=sweep.name,
        run=run.name,
        task=row.task,
        attempt=row.attempt,
        artifact=row.artifact,
        region=row.region,
        metric=objective.metric if objective else "",
        maximize=bool(objective and objective.maximize),
        score=row.score if row.score is not None and isfinite(row.score) else None,
        key=run.plan.task(row.task, code=run.anchor.code).key,
        dataset=row.dataset,
        data_mark=mark,
        evaluation=evaluation_of(row, sweep, mark, last.started_at, run.cloud.clients),
        code=run.anchor.code,
        image=_image(run, last.lane),
        plan=run.plan.id,
        lane=str(last.lane),
        usd=row.usd,
        trained_at=last.ended_at,
        owner=run.anchor.owner,
        point=row.point,
        hyperparameters=sweep.train.hyperparameters,
        metrics={name: value for name, value in row.metrics.items() if isfinite(value)},
    )


def _last_outcome(run: Run, task: int) -> Outcome:
    known = next(run.ledger.known(run.name, Ranges.of([task])))
    return known.result.outcomes[-1]


def _image(run: Run, lane: Lane) -> str:
    """Return the image that a task was trained in, by its digest; nothing, with a warning, where nobody can tell."""
    try:
        template = run.cloud.control(run.name).template(lane.platform, lane.region)
        return make_operating(lane.platform).image(template, lane)
    except SweepError as error:
        log.warning("in which image %s was trained is not known: %s", run.name, error)
        return ""
