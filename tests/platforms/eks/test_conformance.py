"""EKS as the local cloud plays it, with pods as processes, held to what every platform must do."""

from __future__ import annotations

from orchestrator.platforms.conformance.suite import Conformance


class TestEks(Conformance):
    """The whole suite, against the local cloud."""
