"""`make clients`: an environment for each client, made once."""

from __future__ import annotations

from benchmarks import environment, sdk

sdk.python()
environment.python("sdk3", "sagemaker-train")
environment.python("metaflow", "metaflow")
environment.python("kubernetes", "kubernetes")
