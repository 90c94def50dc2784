"""The sweep file's JSON Schema, so that editors complete it and mark what is wrong while it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.spec.sweep import Sweep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(platforms: Mapping[str, type[BaseModel]]) -> dict[str, Any]:
    """Return the JSON Schema of sweep.yaml. The models say what may stand under `platforms.NAME` of each platform."""
    body = Sweep.model_json_schema(mode="validation")
    for name, model in platforms.items():
        table = model.model_json_schema(mode="validation", ref_template=f"#/$defs/{name}.{{model}}")
        body["$defs"] |= {f"{name}.{key}": value for key, value in table.pop("$defs", {}).items()}
        body["$defs"][f"{name}.{model.__name__}"] = table
        of_platforms = body["properties"]["platforms"].setdefault("properties", {})
        of_platforms[name] = {"$ref": f"#/$defs/{name}.{model.__name__}"}
    return {"$schema": DIALECT, **body, "title": "sweep.yaml"}
