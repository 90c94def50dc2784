"""As much of an MLflow server as a registry needs, by MLflow's REST API: models, versions, tags and aliases."""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

API = "/api/2.0/mlflow/"


@dataclass
class Registry:
    uri: str = ""
    versions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    aliases: dict[tuple[str, str], str] = field(default_factory=dict)
    page: int = 1
    """Versions that a page of a search has."""
    broken: tuple[int, bytes] | None = None
    """The status and body of every answer, instead of what is asked for."""
    tokens: set[str] = field(default_factory=set)

    def source(self, name: str) -> str:
        """The address of the model that readers of the alias get."""
        version = self.aliases[name, "champion"]
        return next(str(one["source"]) for one in self.versions[name] if one["version"] == version)

    def answer(self, path: str, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if path == "registered-models/create":
            if asked["name"] in self.versions:
                return 400, {"error_code": "RESOURCE_ALREADY_EXISTS", "message": "Registered Model already exists."}
            self.versions[asked["name"]] = []
            return 200, {"registered_model": {"name": asked["name"]}}
        if path == "model-versions/search":
            (name,) = re.findall(r"^name='([^']+)'$", asked["filter"])
            start = int(asked.get("page_token", 0))
            end = start + self.page
            token = {"next_page_token": str(end)} if end < len(self.versions[name]) else {}
            return 200, {"model_versions": self.versions[name][start:end], **token}
        if path == "model-versions/create":
            made = {**asked, "version": str(len(self.versions[asked["name"]]) + 1)}
            self.versions[asked["name"]].append(made)
            return 200, {"model_version": made}
        if path == "registered-models/alias":
            if not any(one["version"] == asked["version"] for one in self.versions.get(asked["name"], [])):
                return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "no such version"}
            self.aliases[asked["name"], asked["alias"]] = asked["version"]
            return 200, {}
        return 404, {"error_code": "ENDPOINT_NOT_FOUND", "message": path}


@contextmanager
def mlflow() -> Iterator[Registry]:
    registry = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def do_GET(self) -> None:
            self._answer({name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()})

        def _answer(self, asked: dict[str, Any]) -> None:
            registry.tokens.add(self.headers.get("Authorization", ""))
            status, said = registry.answer(urlsplit(self.path).path.removeprefix(API), asked)
            status, body = registry.broken or (status, json.dumps(said).encode())
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    registry.uri = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
