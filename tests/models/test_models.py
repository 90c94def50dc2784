"""A workload has one champion: a better model takes its place once, and what was before can come back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import Damaged, NewerVersion, UsageError
from orchestrator.models.promotion import CHALLENGE, Promotion
from orchestrator.models.shelf import Shelf
from orchestrator.wire.result import TaskState
from tests.models.bench import finished, models

if TYPE_CHECKING:
    from tests.runs.bench import Desk

FIRST = "workloads/steering/promotions/000001.json"
POINTER = "workloads/steering/champion.json"


def pointer(desk: Desk) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(desk.bucket.objects[POINTER].body)
    return found


def numbers(desk: Desk) -> list[int]:
    return Shelf(desk.bucket, "steering").numbers()


def test_the_best_task_of_the_first_run_is_the_first_champion(desk: Desk) -> None:
    decision = models(desk).challenge(finished(desk, "monday", [0.5, 0.25, 0.75]))
    assert decision.promoted
    assert decision.why == "task 1 of monday: it is the first: its loss is 0.25"
    champion = models(desk).champion("steering")
    assert (champion.number, champion.how, champion.by, champion.before) == (1, CHALLENGE, "ada", 0)
    made = champion.model
    assert (made.run, made.task, made.score, made.maximize) == ("monday", 1, 0.25, False)
    assert made.artifact == "s3://data-us-east-1/runs/monday/1/model.tar.gz"
    assert (made.dataset, made.data_mark) == ("alps@1", "mark of alps@1 in us-east-1")
    assert (made.code, made.usd, made.owner) == ("c0de", 0.5, "ada")
    assert made.point == {"epochs": 1, "lr": 0.1}
    assert models(desk).workloads() == ["steering"]


def test_readers_find_the_champion_at_one_address_whichever_it_is(desk: Desk) -> None:
    models(desk).challenge(finished(desk, "monday", [0.5]))
    models(desk).challenge(finished(desk, "tuesday", [0.4]))
    said = pointer(desk)
    assert (said["number"], said["run"], said["score"]) == (2, "tuesday", 0.4)
    assert said["artifact"] == "s3://data-us-east-1/runs/tuesday/0/model.tar.gz"


def test_a_worse_model_takes_nobody_s_place(desk: Desk) -> None:
    models(desk).challenge(finished(desk, "monday", [0.5]))
    decision = models(desk).challenge(finished(desk, "tuesday", [0.6, 0.7]))
    assert not decision.promoted
    assert decision.why == "task 0 of tuesday: it is no better: its loss is 0.6, the champion's 0.5"
    assert decision.champion is not None
    assert decision.champion.model.run == "monday"
    assert numbers(desk) == [1]


def test_the_best_task_that_keeps_to_the_rules_is_the_challenger(desk: Desk) -> None:
    rules = {"promote": {"guards": [{"maximize": "recall"}]}}
    run = finished(desk, "monday", [0.3, 0.2], {"recall": 0.9}, **rules)
    lacking = next(one for one in run.ledger.known("monday") if one.result.task == 1)
    lacking.result.outcomes[0].metrics.pop("recall")
    run.ledger.save("monday", [lacking])
    decision = models(desk).challenge(run)
    assert decision.challenger.task == 0
    assert decision.promoted


def test_a_model_that_looks_best_and_breaks_a_guard_hides_no_sound_one(desk: Desk) -> None:
    rules = {"promote": {"guards": [{"maximize": "recall"}]}}
    models(desk).challenge(finished(desk, "monday", [0.5], {"recall": 0.9}, **rules))
    run = finished(desk, "tuesday", [0.001, 0.4, 0.3, 0.6], {"recall": 0.9}, **rules)
    broken = next(one for one in run.ledger.known("tuesday") if one.result.task == 0)
    broken.result.outcomes[0].metrics["recall"] = 0.1
    run.ledger.save("tuesday", [broken])
    decision = models(desk).challenge(run)
    assert (decision.challenger.task, decision.promoted) == (2, True)


@pytest.mark.parametrize(
    ("losses", "why"),
    [([None, None], "task 0 of tuesday: it has no loss that is a finite number")],
)
def test_a_challenger_without_its_metric_dethrones_nobody(desk: Desk, losses: list[None], why: str) -> None:
    models(desk).challenge(finished(desk, "monday", [0.5]))
    decision = models(desk).challenge(finished(desk, "tuesday", losses))
    assert (decision.promoted, decision.why) == (False, why)
    assert numbers(desk) == [1]


def test_a_run_of_which_nothing_is_done_has_no_challenger(desk: Desk) -> None:
    with pytest.raises(UsageError, match="none of its tasks is done"):
        models(desk).challenge(finished(desk, "monday", [0.1], state=TaskState.FAILED))


def test_promoting_again_is_harmless_even_when_another_is_champion_by_then(desk: Desk) -> None:
    monday = finished(desk, "monday", [0.5])
    models(desk).challenge(monday)
    again = models(desk).challenge(monday)
    assert (again.promoted, again.repeated, again.why) == (True, True, "task 0 of monday: promotion 1 already")
    models(desk).challenge(finished(desk, "tuesday", [0.4]))
    late = models(desk, "bob").challenge(monday)
    assert (late.promoted, late.repeated) == (True, True)
    assert late.champion is not None
    assert late.champion.model.run == "tuesday"
    assert models(desk).promote(monday, 0).repeated
    assert numbers(desk) == [2, 1]


def test_of_two_runs_that_end_at_once_the_loser_is_held_against_the_winner(desk: Desk) -> None:
    """The other one's promotion comes just before ours: ours is decided again, against the new champion."""
    models(desk).challenge(finished(desk, "monday", [0.5]))
    better, worse = finished(desk, "better", [0.2]), finished(desk, "worse", [0.4])
    meet(desk, lambda: models(desk, "bob").challenge(better))
    decision = models(desk).challenge(worse)
    assert not decision.promoted
    assert decision.why == "task 0 of worse: it is no better: its loss is 0.4, the champion's 0.2"
    assert [Shelf(desk.bucket, "steering").read(number).model.run for number in numbers(desk)] == ["better", "monday"]


def test_of_two_runs_that_end_at_once_the_better_one_is_champion_in_the_end(desk: Desk) -> None:
    better, worse = finished(desk, "better", [0.2]), finished(desk, "worse", [0.4])
    meet(desk, lambda: models(desk, "bob").challenge(worse))
    assert models(desk).challenge(better).promoted
    champion = models(desk).champion("steering")
    assert (champion.number, champion.model.run, champion.before) == (2, "better", 1)


def test_two_who_promote_the_very_same_make_one_promotion(desk: Desk) -> None:
    run = finished(desk, "monday", [0.5])
    meet(desk, lambda: models(desk, "bob").challenge(run))
    decision = models(desk).challenge(run)
    assert (decision.promoted, decision.repeated) == (True, True)
    assert numbers(desk) == [1]
    assert models(desk).champion("steering").by == "bob"


def meet(desk: Desk, other: Any) -> None:
    """Let another one act just before our first write."""

    def before(what: str) -> None:
        if what == "put":
            desk.bucket.before = lambda _: None
            other()

    desk.bucket.before = before


class Killed(BaseException):
    """The process ends at this very moment."""


def test_killed_at_any_moment_a_promotion_is_completed_by_the_next_try(desk: Desk) -> None:
    monday, tuesday = finished(desk, "monday", [0.5]), finished(desk, "tuesday", [0.4])
    for calls in range(100):
        for key in list(desk.bucket.objects):
            desk.bucket.delete(key)
        models(desk).challenge(monday)
        if not killed_after(desk, calls, lambda: models(desk).challenge(tuesday)):
            break
        assert models(desk).challenge(tuesday).promoted
        assert models(desk).champion("steering").model.run == "tuesday"
        assert pointer(desk)["run"] == "tuesday"
        assert numbers(desk) == [2, 1]  # each once
    assert 4 < calls < 99


def killed_after(desk: Desk, calls: int, act: Any) -> bool:
    left = [calls]

    def before(_: str) -> None:
        if not left[0]:
            desk.bucket.before = lambda _: None
            raise Killed
        left[0] -= 1

    desk.bucket.before = before
    try:
        act()
    except Killed:
        return True
    finally:
        desk.bucket.before = lambda _: None
    return False


def test_a_person_may_promote_a_task_that_is_no_better(desk: Desk) -> None:
    models(desk).challenge(finished(desk, "monday", [0.5]))
    run = finished(desk, "tuesday", [0.9, 0.8])
    assert not models(desk).promote(run, 0).promoted
    decision = models(desk, "grace").promote(run, 0, force=True)
    assert decision.why == (
        "task 0 of tuesday: grace said so, though it is no better: its loss is 0.9, the champion's 0.5"
    )
    champion = models(desk).champion("steering")
    assert (champion.how, champion.by, champion.model.task) == ("by_hand", "grace", 0)


def test_a_task_that_is_not_done_is_not_promoted(desk: Desk) -> None:
    with pytest.raises(UsageError, match="task 0 is failed, not done"):
        models(desk).promote(finished(desk, "monday", [0.5], state=TaskState.FAILED), 0, force=True)


def test_a_rollback_is_a_promotion_of_what_was_before(desk: Desk) -> None:
    for name, loss in (("monday", 0.5), ("tuesday", 0.4), ("wednesday", 0.3)):
        models(desk).challenge(finished(desk, name, [loss]))
    made = models(desk, "grace").rollback("steering")
    assert (made.number, made.model.run, made.how, made.by, made.origin) == (4, "tuesday", "rollback", "grace", 2)
    assert pointer(desk)["number"] == 4
    assert pointer(desk)["run"] == "tuesday"
    again = models(desk).rollback("steering")
    assert (again.number, again.model.run) == (5, "monday")
    with pytest.raises(UsageError, match="had no champion before this one"):
        models(desk).rollback("steering")
    assert numbers(desk) == [5, 4, 3, 2, 1]
    forth = models(desk).rollback("steering", 3)
    assert forth.model.run == "wednesday"
    assert models(desk).rollback("steering", 3).number == forth.number  # it is champion already


def test_a_challenger_is_held_against_what_was_rolled_back_to(desk: Desk) -> None:
    models(desk).challenge(finished(desk, "monday", [0.5]))
    models(desk).challenge(finished(desk, "broken", [0.0]))
    models(desk).rollback("steering")
    assert models(desk).challenge(finished(desk, "tuesday", [0.4])).promoted


def test_a_damaged_promotion_is_named_and_can_be_rolled_back_from(desk: Desk) -> None:
    models(desk).challenge(finished(desk, "monday", [0.5]))
    models(desk).challenge(finished(desk, "tuesday", [0.4]))
    desk.bucket.delete("workloads/steering/promotions/000002.json")
    desk.bucket.put_once("workloads/steering/promotions/000002.json", b'{"version": 1, "number"')
    with pytest.raises(Damaged, match=r"s3://control/workloads/steering/promotions/000002.json: cannot be understood"):
        models(desk).champion("steering")
    with pytest.raises(Damaged):
        models(desk).challenge(finished(desk, "wednesday", [0.3]))
    left_out: list[Any] = []
    assert [each.number for each in models(desk).history("steering", left_out.append)] == [1]
    assert models(desk).champions(left_out.append) == []
    assert [error.where for error in left_out] == ["s3://control/workloads/steering/promotions/000002.json"] * 2
    assert models(desk).rollback("steering", 1).number == 3
    assert models(desk).champion("steering").model.run == "monday"


@pytest.mark.parametrize(
    "change",
    [
        {"number": 7},
        {"number": "1"},
        {"model": None},
        {"model": {}},
        {"at": -1.0},
        {"by": 3},
        {"score": float("nan")},
        {"score": "0.5"},
        {"score": 1e400},
        {"metrics": {"loss": "0.5"}},
        {"workload": "other"},
        {"point": [1]},
        {"evaluation": "test"},
    ],
)
def test_an_object_that_nobody_has_written_is_damaged(desk: Desk, change: dict[str, Any]) -> None:
    models(desk).challenge(finished(desk, "monday", [0.5]))
    body = json.loads(desk.bucket.objects[FIRST].body)
    whole = body | {name: value for name, value in change.items() if name in body}
    if whole == body or set(change) - set(body):
        whole = body | {"model": body["model"] | change}
    desk.bucket.delete(FIRST)
    desk.bucket.put_once(FIRST, json.dumps(whole).encode())
    with pytest.raises(Damaged):
        models(desk).champion("steering")


def test_what_a_newer_sweep_has_written_is_said_to_be_newer(desk: Desk) -> None:
    models(desk).challenge(finished(desk, "monday", [0.5]))
    body = json.loads(desk.bucket.objects[FIRST].body) | {"version": 2}
    with pytest.raises(NewerVersion):
        Promotion.from_json(body)


def test_a_pointer_that_was_left_behind_or_spoilt_is_brought_up(desk: Desk) -> None:
    models(desk).challenge(finished(desk, "monday", [0.5]))
    desk.bucket.delete(POINTER)
    desk.bucket.put_once(POINTER, b"spoilt")
    models(desk).bring_up_pointers()
    assert pointer(desk)["number"] == 1


def test_a_workload_without_a_champion_has_a_line_and_a_likely_name(desk: Desk) -> None:
    with pytest.raises(UsageError, match="no champion of 'steering'"):
        models(desk).champion("steering")
    models(desk).challenge(finished(desk, "monday", [0.5]))
    with pytest.raises(UsageError, match="did you mean 'steering'"):
        models(desk).champion("sterring")
    with pytest.raises(UsageError, match="has no promotion 9"):
        models(desk).rollback("steering", 9)
