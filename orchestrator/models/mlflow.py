"""The champion in an MLflow registry: a registered model of the workload's name, whose alias `champion` is moved.

MLflow's REST API is spoken, and nothing of MLflow is needed here. A version is known again by its tag, so that telling
the registry the same thing twice changes nothing.
"""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from typing import TYPE_CHECKING, Any

from orchestrator.errors import CloudError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.models.promotion import Promotion

ALIAS = "champion"
TAG = "sweep.promotion"
"""Holds the number of the promotion that first brought a version's model."""
TIMEOUT_S = 5.0
_THERE_ALREADY = "RESOURCE_ALREADY_EXISTS"


class _Refused(CloudError):
    """An answer that is an error, with MLflow's own code."""

    def __init__(self, code: str, said: str, where: str) -> None:
        super().__init__(f"it answers {said}", where=where)
        self.code = code


class MlflowRegistry:
    """The registered models of one MLflow server."""

    def __init__(self, uri: str, token: str = "") -> None:
        self._api = f"{uri.rstrip('/')}/api/2.0/mlflow"
        self._where = urllib.parse.urlsplit(uri).hostname or uri
        self._headers = {"Content-Type": "application/json", "User-Agent": "sweep-orchestrator"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def point_to(self, promotion: Promotion) -> None:
        """Let the alias name the version of this promotion's model, which is made if need be.

        CloudError if the server does not answer, or refuses.
        """
        name = promotion.model.workload
        try:
            self._call("POST", "registered-models/create", {"name": name})
        except _Refused as error:
            if error.code != _THERE_ALREADY:
                raise
        version = self._find(name, promotion.origin) or self._make(name, promotion)
        self._call("POST", "registered-models/alias", {"name": name, "alias": ALIAS, "version": version})

    def _find(self, name: str, origin: int) -> str | None:
        """Return the version of the model that this promotion first brought; None if there is none."""
        wanted = {"key": TAG, "value": str(origin)}
        return next((str(one["version"]) for one in self._versions(name) if wanted in one.get("tags", [])), None)

    def _versions(self, name: str) -> Iterator[dict[str, Any]]:
        token = ""
        while True:
            asked = {"filter": f"name='{name}'", "max_results": "200", **({"page_token": token} if token else {})}
            answer = self._call("GET", f"model-versions/search?{urllib.parse.urlencode(asked)}")
            yield from answer.get("model_versions", [])
            token = answer.get("next_page_token") or ""
            if not token:
                return

    def _make(self, name: str, promotion: Promotion) -> str:
        model = promotion.model
        tags = {TAG: str(promotion.origin), "sweep.run": model.run, "sweep.task": str(model.task)}
        if model.metric and model.score is not None:
            tags[f"sweep.{model.metric}"] = f"{model.score:.6g}"
        body = {
            "name": name,
            "source": model.artifact,
            "description": promotion.why,
            "tags": [{"key": key, "value": value} for key, value in tags.items()],
        }
        return str(self._call("POST", "model-versions/create", body)["model_version"]["version"])

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._api}/{path}", data, self._headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                found = json.load(answer)
        except urllib.error.HTTPError as error:
            raise self._refused(error) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise CloudError(f"it does not answer as MLflow does: {type(reason).__name__}", where=self._where) from None
        if not isinstance(found, dict):
            raise CloudError("it does not answer as MLflow does", where=self._where)
        return found

    def _refused(self, error: urllib.error.HTTPError) -> _Refused:
        with error:
            try:
                said = json.load(error)
                code, message = str(said["error_code"]), " ".join(str(said.get("message", "")).split())[:200]
            except (ValueError, KeyError, TypeError, OSError):
                code, message = "", ""
        return _Refused(code, f"{error.code} {code}: {message}".rstrip(": "), self._where)
