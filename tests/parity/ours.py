"""Our request for a case."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from orchestrator.platforms.base import Staging
from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from orchestrator.platforms.sagemaker.request import make_request
from orchestrator.platforms.sagemaker.stage import make_template
from orchestrator.spec.sweep import Sweep
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Task
from tests.parity.case import DATA, DIGEST, HERE, MAX_RUNTIME_S, MAX_WAIT_S, PLAN, POINT, REGION, ROLE, RUN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.parity.case import Case


class Refused(Exception):
    """The sweep file would not be taken."""


def sent(case: Case, images: dict[str, str]) -> dict[str, Any]:
    """`images` answers what is asked of the SDK's image tables."""
    train = {"entry_point": "train.py", "source": "code", **case.train}
    body = {
        "name": RUN,
        "train": train,
        "space": {name: [value] for name, value in POINT.items()},
        "where": {"instance_types": [case.instance_type], "purchases": [case.purchase.value]},
        "runtime": 0.5,
        **case.sweep,
    }
    try:
        sweep = Sweep.model_validate(body)
    except ValidationError as error:
        raise Refused(error.errors()[0]["msg"]) from error
    for complaint in SageMakerPlanning({}).check(sweep):
        raise Refused(complaint.message)
    source, output = f"{HERE}/sources/{DIGEST}/sourcedir.tar.gz", f"{HERE}/runs/{RUN}"
    staging = Staging(sweep, REGION, RUN, "ada", source, output, ROLE, poll_s=30)
    with answering(images):
        shared = make_template(staging)
    lane = Lane("sagemaker", REGION, case.instance_type, case.purchase)
    site = PLAN if case.purchase is Purchase.COMMITTED else ""
    place = Place(lane, DATA, 1.5, site, case.instances)
    task = Task(0, "key", "paris@1", dict(POINT), (place,), Limits(MAX_RUNTIME_S, max_wait_s=MAX_WAIT_S))
    return make_request(shared, task, place, 1, MAX_RUNTIME_S).body


@contextmanager
def answering(images: dict[str, str]) -> Iterator[None]:
    """The tables of images that the SDK carries, where this environment has no SDK."""
    uris, core = ModuleType("sagemaker.core.image_uris"), ModuleType("sagemaker.core")
    uris.retrieve = lambda **asked: images[asked["version"] + asked["instance_type"]]  # type: ignore[attr-defined]
    core.image_uris = uris  # type: ignore[attr-defined]
    stand_ins = {"sagemaker": ModuleType("sagemaker"), "sagemaker.core": core}
    before = {name: sys.modules.get(name) for name in stand_ins}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
