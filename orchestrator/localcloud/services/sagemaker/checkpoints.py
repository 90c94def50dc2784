"""Checkpoints: S3 and a host's folder, kept alike.

SageMaker copies to S3 what changes, all along; so an instance that is taken away loses only the last moment's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.sagemaker.container import Uri, download

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.localcloud.services.moto_backends import Objects
    from orchestrator.localcloud.services.sagemaker.toolkit import Host


class Checkpoints:
    def __init__(self, host: Host, config: dict[str, Any], objects: Objects) -> None:
        local = host.local(config.get("LocalPath", "/opt/ml/checkpoints"))
        self._folder: Path = host.base / str(local)  # an absolute path replaces the base
        self._uri = Uri.parse(config["S3Uri"])
        self._objects = objects
        self._copied: dict[Path, tuple[int, int]] = {}

    def restore(self) -> None:
        """All that S3 has: of an earlier run, or of another training."""
        download(self._objects, self._uri, self._folder)
        for file in self._files():
            self._copied[file] = _state(file)

    def save(self) -> None:
        """What has changed since the last look."""
        for file in self._files():
            try:
                state = _state(file)
                body = file.read_bytes() if self._copied.get(file) != state else None
            except FileNotFoundError:  # it has just been moved away
                continue
            if body is not None:
                uri = self._uri / file.relative_to(self._folder).as_posix()
                self._objects.write(uri.bucket, uri.key, body)
                self._copied[file] = state

    def _files(self) -> list[Path]:
        return sorted(file for file in self._folder.rglob("*") if file.is_file())


def _state(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_mtime_ns, found.st_size
