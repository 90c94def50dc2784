"""A host's folder of checkpoints, and the prefix in S3 that is kept like it.

SageMaker copies changes to S3 all the time. So an instance that is taken away loses only those of the last moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.sagemaker.host.s3_files import Uri, download

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.localcloud.services.moto.backends import Objects
    from orchestrator.localcloud.services.sagemaker.host.host import Host


class Checkpoints:
    """Copies one host's checkpoints from S3 and to S3, as the request's CheckpointConfig asks."""

    def __init__(self, host: Host, config: dict[str, Any], objects: Objects) -> None:
        self._folder = host.on_disk(config.get("LocalPath", "/opt/ml/checkpoints"))
        self._uri = Uri.parse(config["S3Uri"])
        self._objects = objects
        self._copied: dict[Path, tuple[int, int]] = {}

    def restore(self) -> None:
        """Write all that S3 has into the folder. It may be of an earlier execution, or of another training."""
        download(self._objects, self._uri, self._folder)
        for file in self._files():
            self._copied[file] = _state(file)

    def save(self) -> None:
        """Write to S3 each file that has changed since the last call."""
        for file in self._files():
            try:
                state = _state(file)
                if self._copied.get(file) == state:
                    continue
                body = file.read_bytes()
            except FileNotFoundError:  # it has just been moved away
                continue
            uri = self._uri / file.relative_to(self._folder).as_posix()
            self._objects.write(uri.bucket, uri.key, body)
            self._copied[file] = state

    def _files(self) -> list[Path]:
        return sorted(file for file in self._folder.rglob("*") if file.is_file())


def _state(file: Path) -> tuple[int, int]:
    """Return what changes whenever a file does: its time and its size."""
    found = file.stat()
    return found.st_mtime_ns, found.st_size
