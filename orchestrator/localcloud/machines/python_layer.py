"""A Python environment that shows all of ours and takes what is installed into it, as a container's upper layer does.

A training with an entry point of its own may call `pip install`. On AWS that changes its container; here it must not
change the Python that we run on.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path


def make_layer(folder: Path) -> Path:
    """Make such an environment in a folder that is not there yet; return the folder of its programs."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    python = Path(sys._base_executable)  # type: ignore[attr-defined]
    for name in ("python", "python3"):
        (programs / name).symlink_to(python)
    (folder / "pyvenv.cfg").write_text(f"home = {python.parent}\ninclude-system-site-packages = false\n")
    packages = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    packages.mkdir(parents=True)
    below = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    lines = (f"import site; site.addsitedir({path!r})\n" for path in below)
    (packages / "below.pth").write_text("".join(lines))
    return programs
