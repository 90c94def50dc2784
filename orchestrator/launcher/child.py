"""Reads from a Batch child's environment which child it is, and from the manifest what its task is."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from orchestrator.errors import NewerVersion, NotFound, UsageError
from orchestrator.wire.manifest import BadLine, ClassicLine, parse, read_line
from orchestrator.wire.names import S3Uri, index_key, run_of_job, submission_of_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.aws.s3 import S3
    from orchestrator.wire.task import Task

MANIFEST_VARIABLES = ("SWEEP_MANIFEST", "S3_ARRAY_FILE")
"""The variables that may name the manifest: our own, and the classic recipe's."""


@dataclass(frozen=True)
class Child:
    """One child of an AWS Batch array job. An ordinary job is an array of one."""

    manifest: S3Uri
    run: str
    submission: int
    index: int
    """The child's index in its array, from 0."""
    siblings: int
    """The number of children in the array, this one included."""
    region: str
    """The Region of the control bucket, where Batch runs this child."""
    planned: bool = True
    """False for a manifest that lies in no run: a plain file of two columns."""


def this_child(environ: Mapping[str, str]) -> Child:
    """Return the child that runs here. Raise UsageError, naming the variable, when the environment does not say."""
    name = next((name for name in MANIFEST_VARIABLES if environ.get(name)), MANIFEST_VARIABLES[0])
    try:
        manifest = S3Uri.parse(environ.get(name, ""))
    except ValueError as error:
        raise UsageError(
            str(error), where=name, hint="s3://<bucket>/runs/<run>/submissions/<k>/<j>.manifest"
        ) from error
    known = submission_of_manifest(manifest.key)
    run, submission = known or (run_of_job(environ), 1)
    if not run:
        raise UsageError(
            f"{manifest} does not lie in a run, and there is no Batch job to keep track of it by",
            where=name,
            hint="`sweep submit --manifest` makes a run of a classic JOBARRAY",
        )
    return Child(
        manifest,
        run=run,
        submission=submission,
        planned=known is not None,
        index=_number(environ, "AWS_BATCH_JOB_ARRAY_INDEX", 0),
        siblings=_number(environ, "AWS_BATCH_JOB_ARRAY_SIZE", 1),
        region=_region(environ),
    )


def read_task(child: Child, s3: S3) -> Task:
    """Return the task on the child's line of the manifest.

    Raise UsageError when there is no task on it, NewerVersion when only a newer launcher can read the task.
    Two ranged reads are enough; a manifest without an index is read whole.
    """
    where = f"{child.manifest} line {child.index + 1}"
    try:
        line = parse(_line(child, s3))
    except (BadLine, IndexError) as error:
        raise UsageError(str(error), where=where) from error
    except NewerVersion as error:
        raise NewerVersion(error.message, where=where, hint=error.hint) from error
    if isinstance(line, ClassicLine):
        raise UsageError(
            "a Region and its data are not yet a task: the third column is missing",
            where=where,
            hint="`sweep submit --manifest` makes a run of a classic JOBARRAY",
        )
    return line


def _line(child: Child, s3: S3) -> str:
    key = child.manifest.key
    try:
        return read_line(
            child.index,
            read_index=lambda first, stop: s3.get_range(index_key(key), first, stop),
            read_manifest=lambda first, stop: s3.get_range(key, first, stop),
        )
    except NotFound:
        # Only "\n" ends a line: `splitlines` would also cut at U+2028 and its like, which a path may contain.
        lines = BytesIO(s3.get(key).body).readlines()
        if child.index >= len(lines):
            raise IndexError(f"the manifest has no line {child.index + 1}") from None
        return lines[child.index].decode("utf-8", "replace")


def _number(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name, str(default))
    if not text.isdecimal():
        raise UsageError(f"not a number: {text!r}", where=name)
    return int(text)


def _region(environ: Mapping[str, str]) -> str:
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise UsageError("not set", where="AWS_DEFAULT_REGION", hint="the Region of the control bucket")
    return region
