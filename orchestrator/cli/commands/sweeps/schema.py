"""`sweep schema`: what a sweep.yaml may hold."""

from __future__ import annotations

from orchestrator.cli import render
from orchestrator.cli.options import AsJson


def schema(as_json: AsJson = True) -> None:  # noqa: ARG001 - it is JSON always
    """Print the JSON Schema of sweep.yaml.

    Editors complete and check the file with it.

    Example: sweep schema > sweep.schema.json
    """
    from orchestrator.api import schema as schema_of_sweeps

    render.as_json(schema_of_sweeps())
