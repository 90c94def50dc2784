"""A plan as a file: `sweep plan -o` writes it, `sweep submit` reads it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from orchestrator.errors import NewerVersion, UsageError
from orchestrator.files import check_replaceable, is_plan, read, write
from orchestrator.plan.plan import Plan


def read_plan(path: Path) -> Plan:
    """Return the plan in this file. UsageError if it is no plan, not the plan that was written, or a newer sweep's."""
    try:
        body = json.loads(read(path))
        identity, folder = body.pop("id"), (path.resolve().parent / body.pop("folder")).resolve()
        plan = Plan.from_json(body, folder)
        is_as_written = plan.id == identity  # what is not JSON, such as nan, has no id
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror or error}", where=str(path)) from error
    except NewerVersion as error:
        raise NewerVersion(error.message, where=str(path), hint=error.hint) from error
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OverflowError) as error:
        raise UsageError(
            "not a plan", where=str(path), hint="`sweep plan sweep.yaml -o plan.json` writes one"
        ) from error
    if not is_as_written:
        raise UsageError(
            f"changed by hand: its content is not what plan {str(identity)[:12]} said",
            where=str(path),
            hint="plan again with `sweep plan`, after changing the sweep file instead",
        )
    return plan


def write_plan(plan: Plan, path: Path, *, force: bool = False) -> None:
    """Write the plan, all at once: nobody ever sees half a file.

    UsageError if that is not possible, or if a file that is no plan is there and `force` is not given.

    Beside the plan's content, the file says its `id` and where the sweep's `folder` is, seen from the file.
    """
    folder = os.path.relpath(plan.sweep.folder.resolve(), path.resolve().parent)
    text = json.dumps({"id": plan.id, "folder": Path(folder).as_posix()} | plan.to_json(), indent=1) + "\n"
    check_replaceable(path, is_plan, "plan", force=force)
    write(path, text)
