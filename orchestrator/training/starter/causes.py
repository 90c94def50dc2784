"""Tells an error of a training's own from one that only follows from another: a process has lost the others, say.

It travels into the training: standard library only.
"""

from __future__ import annotations

import re

_FOLLOWS = re.compile(
    r"torch\.distributed\.elastic|ChildFailedError|SignalException|Rendezvous\w*Error"
    r"|\bDist(Store|Network|Backend)?Error|\bgloo/|\bGloo \w+ failed|Connection closed by peer \["
    r"|RuntimeError: (Connection reset by peer|Broken pipe|Socket Timeout)"
    r"|nccl(Remote|System|Internal)Error|NCCL communicator was aborted|HorovodInternalError"
)
"""Errors of torchrun, and those by which torch.distributed and Horovod tell that another process does not answer."""
_COMMAND = ' Command "'


def follows(error: str) -> bool:
    """Return whether an error only tells that another process has failed, or is gone. It may be a reason, too."""
    return _FOLLOWS.search(" ".join(error.split()).split(_COMMAND)[0]) is not None
