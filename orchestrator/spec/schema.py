"""The sweep file's JSON Schema, so that editors complete it and mark what is wrong while it is written."""

from __future__ import annotations

from typing import Any

from orchestrator.spec.sweep import Sweep

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """Return the JSON Schema of sweep.yaml."""
    body = Sweep.model_json_schema(mode="validation")
    return {"$schema": DIALECT, **body, "title": "sweep.yaml"}
