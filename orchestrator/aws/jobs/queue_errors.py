"""Says what makes a queue that is not there: Batch alone says only that it is not."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOT_THERE = re.compile(r"job ?queue .*(does not exist|not found)", re.IGNORECASE)
_HINT = "`sweep infra deploy` makes the queues of an account; `queue` and `lane_queue` in sweep.toml name others"


@contextmanager
def queue_errors(what: str, where: str) -> Iterator[None]:
    """Do what `aws_errors` does, for a call that names a queue. InvalidRequest for one that is not there says so."""
    try:
        with aws_errors(what, where=where):
            yield
    except InvalidRequest as error:
        if type(error) is not InvalidRequest or not _NOT_THERE.search(error.message):
            raise
        raise InvalidRequest(error.message, where=error.where, hint=_HINT) from error
