"""A role from which a grant is taken away stops its work there, and the error names the action."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.held_account import ACCOUNT, REGION, Account, make_ready

if TYPE_CHECKING:
    from tests.cli.calls import Sweep


@pytest.mark.long
def test_what_a_role_lacks_is_named_and_a_retry_goes_on_once_it_has_it(sweep: Sweep, account: Account) -> None:
    make_ready(sweep, account)
    account.be("submit")
    assert sweep("catalog", "discover", f"s3://sweep-data-{ACCOUNT}-{REGION}/campaigns/").code == 0
    account.be("refresh")
    assert sweep("catalog", "refresh").code == 0
    account.be("submit")
    with account.lacking("launcher", "sagemaker:CreateTrainingJob"):
        assert sweep("submit", "sweep.yaml", "--yes", "--name", "first", "--watch").code == 1
    assert "sagemaker:CreateTrainingJob" in sweep("results", "first", "--json").out
    with account.lacking("training", "s3:GetObject"):
        assert sweep("retry", "first", "--task", "0").code == 0
        assert sweep("watch", "first").code == 1
    assert "s3:GetObject" in sweep("results", "first", "--json").out
    assert sweep("retry", "first").code == 0
    done = sweep("watch", "first")
    assert done.code == 0, done.err
