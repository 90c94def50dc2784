"""Job definitions: JSON with ${placeholders}, which values are filled into."""

from __future__ import annotations

import json
from string import Template
from typing import TYPE_CHECKING, Any

from orchestrator.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping


def render(text: str, values: Mapping[str, str], *, where: str = "job_definitions/launcher.json") -> dict[str, Any]:
    """Return the definition with every placeholder filled in.

    Values go into strings only, so they cannot break the JSON. Raise SettingsError, naming the file as `where`, when
    the text is no JSON, when a placeholder has no value, or when one is badly written.
    """
    try:
        rendered: dict[str, Any] = _fill(json.loads(text), values)
    except json.JSONDecodeError as error:
        raise SettingsError(
            f"not JSON: {error.msg}", where=f"{where}:{error.lineno}:{error.colno}", hint="mend the file"
        ) from error
    except KeyError as error:
        raise SettingsError(
            f"no value for ${{{error.args[0]}}}", where=where, hint=f"there are: {', '.join(sorted(values))}"
        ) from error
    except ValueError as error:
        raise SettingsError(
            f"a placeholder is badly written: {error}", where=where, hint="${name}, or $$ for $"
        ) from error
    return rendered


def _fill(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return Template(value).substitute(values)
    if isinstance(value, list):
        return [_fill(item, values) for item in value]
    if isinstance(value, dict):
        return {key: _fill(item, values) for key, item in value.items()}
    return value
