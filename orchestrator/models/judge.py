"""Decides whether a newly trained model is better than the champion. It is pure: what it says depends on both alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from orchestrator.spec.workload.promote import Promote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.models.promotion import Promotion, TrainedModel

_ROUNDING = 1e-9
"""The part of a difference that may be a matter of how numbers are kept: 0.9 - 0.8 is a little less than 0.1."""


@dataclass(frozen=True)
class Verdict:
    """The answer: whether the challenger takes the champion's place, and why, in one line."""

    better: bool
    why: str
    notes: tuple[str, ...] = ()
    """What a person should know of the comparison."""
    rule: str = ""
    """The rule that it breaks, as the sweep file calls it, such as promote.floor; empty if it is better."""


def judge_alone(model: TrainedModel, rules: Promote) -> Verdict | None:
    """Return why this model could be nobody's champion; None if it could."""
    if not model.metric:
        return _refused("objective", "its sweep has no objective: write `objective: {minimize: loss}`")
    if model.score is None or not isfinite(model.score):
        return _refused("objective", f"it has no {model.metric} that is a finite number")
    if not model.artifact:
        return _refused("a model in S3", "it has left no model in S3")
    if rules.floor is not None and _gain(model.score, rules.floor, maximize=model.maximize) < 0:
        side = "below" if model.maximize else "above"
        said = f"its {model.metric} of {model.score:.6g} is {side} the floor of {rules.floor:.6g}"
        return _refused("promote.floor", said)
    for guard in rules.guards:
        value = model.metrics.get(guard.metric)
        if value is None or not isfinite(value):
            said = f"it has no {guard.metric} that is a finite number, and that is a guard"
            return _refused(f"promote.guards: {guard.metric}", said)
    return None


def _refused(rule: str, why: str, notes: tuple[str, ...] = ()) -> Verdict:
    return Verdict(better=False, why=why, notes=notes, rule=rule)


def judge(challenger: TrainedModel, champion: Promotion | None, rules: Promote | None) -> Verdict:
    """Return whether the challenger takes the place of the champion, which may be nobody yet."""
    rules = rules or Promote()
    unfit = judge_alone(challenger, rules)
    if unfit:
        return unfit
    if champion is None:
        return Verdict(better=True, why=f"it is the first: its {challenger.metric} is {_score(challenger):.6g}")
    held = champion.model
    if (held.metric, held.maximize) != (challenger.metric, challenger.maximize) or held.score is None:
        said = f"{_direction(held)} {held.metric}" if held.metric else "nothing"
        why = f"the champion was chosen to {said}, this is to {_direction(challenger)} {challenger.metric}"
        return _refused("objective", f"{why}: they cannot be compared")
    notes = tuple(_differing_data(challenger, held))
    if notes and rules.evaluation:
        return _refused("promote.evaluation", f"{notes[0]}: they cannot be compared")
    return _compare(challenger, held, rules, notes)


def may_be_better(challenger: TrainedModel, champion: Promotion | None) -> bool:
    """Return whether the objective alone speaks for a model; if it does not, it does for none that is worse by it."""
    if champion is None or champion.model.score is None or challenger.score is None:
        return True
    return _gain(challenger.score, champion.model.score, maximize=challenger.maximize) > 0


def _compare(challenger: TrainedModel, held: TrainedModel, rules: Promote, notes: tuple[str, ...]) -> Verdict:
    new, old = _score(challenger), _score(held)
    gain = _gain(new, old, maximize=challenger.maximize)
    said = f"its {challenger.metric} is {new:.6g}, the champion's {old:.6g}"
    if gain <= 0:
        return _refused("objective", f"it is no better: {said}", notes)
    if gain < rules.min_delta * (1 - _ROUNDING):
        return _refused("promote.min_delta", f"it is better by less than {rules.min_delta:.6g}: {said}", notes)
    for guard in rules.guards:
        value, before = challenger.metrics[guard.metric], held.metrics.get(guard.metric)
        if before is None:
            notes = (*notes, f"the champion has no {guard.metric}, so this guard holds nothing back")
        elif -_gain(value, before, maximize=guard.maximize is not None) > guard.tolerance * (1 + _ROUNDING):
            why = f"its {guard.metric} got worse: it is {value:.6g}, the champion's {before:.6g}"
            return _refused(f"promote.guards: {guard.metric}", why, notes)
    return Verdict(better=True, why=f"it is better: {said}", notes=notes)


def _differing_data(challenger: TrainedModel, held: TrainedModel) -> Iterator[str]:
    if not challenger.evaluation.is_same(held.evaluation):
        yield f"it was measured on {challenger.evaluation}, the champion on {held.evaluation}"


def _gain(value: float, than: float, *, maximize: bool) -> float:
    return value - than if maximize else than - value


def _direction(model: TrainedModel) -> str:
    return "maximize" if model.maximize else "minimize"


def _score(model: TrainedModel) -> float:
    return 0.0 if model.score is None else model.score
