"""Says in one line that an answer of AWS is not what its reader knows."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from orchestrator.errors import CloudError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def understood(asking: str, *, where: str) -> Iterator[None]:
    """Turn what is raised when an answer lacks something, or has something of another kind, into CloudError.

    `asking` says what was to be done, as for `aws_errors`.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        said = " ".join(str(error).split())[:120]
        raise CloudError(
            f"could not {asking}: the answer cannot be understood: {type(error).__name__}: {said}",
            where=where,
            hint="an answer not known here: try again later",
        ) from error
