"""Of two who change stacks at once, each does what was agreed to, or learns in one line who was first."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.account.cloudformation import Change, Proposal, Stack
from orchestrator.errors import CloudError, InvalidRequest, NotFound, Refused
from orchestrator.infra.stacks import deploy
from orchestrator.infra.stacks.deploy import Wanted
from orchestrator.infra.stacks.state import look

if TYPE_CHECKING:
    from collections.abc import Callable

OURS, THEIRS = json.dumps({"Version": "ours"}), json.dumps({"Version": "theirs"})
BEGAN = datetime(2026, 11, 22, 14, 2, tzinfo=timezone.utc)


@dataclass
class Account:
    """One stack in one Region. What others do meanwhile is done before a call is answered."""

    stack: Stack | None = None
    body: str = "{}"
    proposals: dict[str, str] = field(default_factory=dict)
    meanwhile: dict[str, Callable[[Account], None]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    region: str = "eu-west-1"

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if others := self.meanwhile.pop(name, None):
            others(self)

    def find(self, key: str) -> Stack | None:
        self._called("find")
        if self.stack and self.stack.status == "DELETE_COMPLETE" and not key.startswith("arn:"):
            return None
        found = self.stack
        if found and found.is_busy:  # whatever goes on has ended at the next look
            ends = {"DELETE_IN_PROGRESS": "DELETE_COMPLETE", "CREATE_IN_PROGRESS": "CREATE_COMPLETE"}
            self.stack = replace(found, status=ends.get(found.status, "UPDATE_COMPLETE"))
        return found

    def propose(self, stack: str, name: str, template: str, **_: Any) -> str:
        self._called("propose")
        if self.stack is None:
            self.stack = Stack(stack, self.region, f"arn:{stack}", "REVIEW_IN_PROGRESS")
        self.proposals[name] = template
        return name

    def proposal(self, id_: str) -> Proposal:
        self._called("proposal")
        if id_ not in self.proposals:
            raise NotFound("ChangeSet does not exist")
        is_same = self.proposals[id_] == self.body
        action = "Add" if self.body == "{}" else "Modify"
        changes = () if is_same else (Change(action, "Bucket", "AWS::S3::Bucket", "", (), is_replaced=False),)
        return Proposal(id_, "sweep-control", changes, is_pending=False, is_empty=is_same)

    def execute(self, proposal: Proposal) -> None:
        self._called("execute")
        if proposal.id not in self.proposals:
            raise NotFound("ChangeSet does not exist")
        assert self.stack
        if self.stack.is_busy:
            raise InvalidRequest("Stack is in UPDATE_IN_PROGRESS state and can not be updated.")
        self.body, self.proposals = self.proposals[proposal.id], {}
        word = "CREATE" if self.stack.is_new else "UPDATE"
        self.stack = replace(self.stack, status=f"{word}_IN_PROGRESS", changed_at=BEGAN)

    def drop(self, proposal: Proposal) -> None:
        self._called("drop")
        if proposal.id not in self.proposals:
            raise NotFound("ChangeSet does not exist")
        del self.proposals[proposal.id]

    def delete(self, key: str) -> None:  # noqa: ARG002
        self._called("delete")
        assert self.stack
        self.stack = replace(self.stack, status="DELETE_IN_PROGRESS")

    def template(self, key: str) -> str:  # noqa: ARG002
        return self.body

    def failures(self, key: str) -> list[str]:  # noqa: ARG002
        return []


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.infra.stacks.waiting.time.sleep", lambda _: None)


def stack(status: str) -> Stack:
    return Stack("sweep-control", "eu-west-1", "arn:sweep-control", status, changed_at=BEGAN)


def wanted(account: Account) -> Wanted:
    return Wanted("sweep-control", account, OURS)  # type: ignore[arg-type]


def deploy_all(account: Account) -> list[str]:
    return [each.status for each in deploy.carry_out(deploy.plan_changes([wanted(account)]))]


def deployed_by_others(body: str, status: str = "UPDATE_IN_PROGRESS") -> Callable[[Account], None]:
    def others(account: Account) -> None:
        account.body, account.proposals, account.stack = body, {}, stack(status)

    return others


def test_who_deploys_alone_gets_what_was_agreed_to() -> None:
    account = Account()
    assert deploy_all(account) == ["CREATE_COMPLETE"]
    assert account.body == OURS


@pytest.mark.parametrize("when", ["proposal", "execute"])
@pytest.mark.parametrize("status", ["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"])
def test_where_somebody_else_has_just_deployed_the_same_nothing_is_left_to_do(when: str, status: str) -> None:
    account = Account(stack("CREATE_COMPLETE"), THEIRS, meanwhile={when: deployed_by_others(OURS, status)})
    assert set(deploy_all(account)) <= {"UPDATE_COMPLETE"}
    assert account.body == OURS


@pytest.mark.parametrize("status", ["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"])
def test_who_comes_second_with_something_else_is_told_so_in_one_line(status: str) -> None:
    others = json.dumps({"Version": "a third"})
    account = Account(stack("CREATE_COMPLETE"), "{}", meanwhile={"execute": deployed_by_others(others, status)})
    with pytest.raises(Refused) as refused:
        deploy_all(account)
    assert str(refused.value) == (
        "eu-west-1: the stack sweep-control was changed by somebody else meanwhile: UPDATE_COMPLETE since "
        "2026-11-22 14:02 UTC (what was agreed to no longer holds; deploy again to see what is left to do)"
    )
    assert account.body == others
    assert not account.proposals


def test_a_proposal_that_somebody_else_has_taken_back_is_made_again() -> None:
    account = Account(stack("CREATE_COMPLETE"), THEIRS, meanwhile={"execute": lambda one: one.proposals.clear()})
    assert deploy_all(account) == ["UPDATE_COMPLETE"]
    assert account.body == OURS


def test_who_does_not_agree_takes_nothing_away_from_somebody_who_does() -> None:
    account = Account()
    planned = deploy.plan_changes([wanted(account)])
    account.execute(account.proposal(next(iter(account.proposals))))
    deploy.drop(planned)
    assert "delete" not in account.calls
    account = Account()
    deploy.drop(deploy.plan_changes([wanted(account)]))
    assert account.calls[-1] == "delete"


def test_a_stack_that_is_being_changed_is_not_deleted_and_one_that_goes_already_is_waited_for() -> None:
    busy = Account(stack("UPDATE_IN_PROGRESS"))
    with pytest.raises(Refused) as refused:
        deploy.wait_until_gone(busy, stack("UPDATE_COMPLETE"))  # type: ignore[arg-type]
    assert str(refused.value) == (
        "eu-west-1: the stack sweep-control is being changed by somebody else: UPDATE_IN_PROGRESS since 2026-11-22 "
        "14:02 UTC (nothing was deleted of it; call it again when that has ended, as `sweep infra status` tells)"
    )
    going = Account(stack("DELETE_IN_PROGRESS"))
    deploy.wait_until_gone(going, stack("UPDATE_COMPLETE"))  # type: ignore[arg-type]
    assert "delete" not in going.calls


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("ROLLBACK_COMPLETE", "`sweep infra deploy` takes what is left away, and makes it anew"),
        ("UPDATE_IN_PROGRESS", "somebody is changing it since 2026-11-22 14:02 UTC: `sweep infra deploy` waits"),
        ("UPDATE_FAILED", "`aws cloudformation rollback-stack --stack-name sweep-control --region eu-west-1`"),
    ],
)
def test_each_state_that_is_in_the_way_is_told_with_what_to_do(status: str, told: str) -> None:
    account = Account(stack(status), OURS)
    account.look_for_drift = lambda _: "look"  # type: ignore[attr-defined]
    account.has_looked = lambda _: True  # type: ignore[attr-defined]
    account.drifts = lambda _: []  # type: ignore[attr-defined]
    (state,) = look([wanted(account)])
    assert told in state.what_to_do
    assert not state.is_well


@pytest.mark.parametrize(("body", "is_well"), [(OURS, True), (THEIRS, False)])
def test_a_stack_whose_last_change_failed_is_well_if_it_is_what_is_wanted_now(body: str, is_well: bool) -> None:
    account = Account(stack("UPDATE_ROLLBACK_COMPLETE"), body)
    account.look_for_drift = lambda _: "look"  # type: ignore[attr-defined]
    account.has_looked = lambda _: True  # type: ignore[attr-defined]
    account.drifts = lambda _: []  # type: ignore[attr-defined]
    (state,) = look([wanted(account)])
    assert (state.is_well, "`sweep infra deploy` tries again" in state.what_to_do) == (is_well, not is_well)


def test_a_stack_whose_first_deployment_failed_is_made_anew_and_one_that_is_stuck_is_left_to_a_person() -> None:
    account = Account(stack("ROLLBACK_COMPLETE"), "{}", meanwhile={})
    planned = deploy.plan_changes([wanted(account)])
    assert "delete" in account.calls
    assert planned
    with pytest.raises(CloudError, match="is in state UPDATE_ROLLBACK_FAILED"):
        deploy.plan_changes([wanted(Account(stack("UPDATE_ROLLBACK_FAILED")))])
