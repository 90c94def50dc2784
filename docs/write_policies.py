"""Write docs/policies from the code that knows them: `python docs/write_policies.py`.

They are those of an account 123456789012 whose control Region is us-east-1, as `sweep infra deploy` makes them.
"""

from __future__ import annotations

import json
from pathlib import Path

from orchestrator.infra.names import names
from orchestrator.infra.policies import ROLES, policy
from orchestrator.settings.settings import Settings

FOLDER = Path(__file__).with_name("policies")
ACCOUNT = "123456789012"


def pages() -> dict[str, str]:
    """Return the text of each policy, by the name of its file."""
    everything = names(Settings(region="us-east-1"), ACCOUNT)
    return {f"{role}.json": json.dumps(policy(role, everything), indent=2) + "\n" for role in ROLES}


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
