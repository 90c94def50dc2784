"""Print an extra's requirements, as pyproject.toml pins them: the only place that does.

python containers/pinned.py torch
"""

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = Path(__file__).parents[1] / "pyproject.toml"

sys.stdout.write("\n".join(tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"][sys.argv[1]]) + "\n")
