"""`python -m benchmarks [NAME ...]`: every benchmark, or those named. Ends with 1 if a budget was missed."""

from __future__ import annotations

import sys

from benchmarks import cli_start, launcher, localcloud, manifest, planning, status

ALL = {
    "cli": cli_start,
    "plan": planning,
    "manifest": manifest,
    "launcher": launcher,
    "status": status,
    "localcloud": localcloud,
}


def main(names: list[str]) -> int:
    unknown = set(names) - set(ALL)
    if unknown:
        sys.stderr.write(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(ALL)}\n")
        return 2
    kept = True
    for name in names or ALL:
        for figure in ALL[name].measure():
            print(figure, flush=True)
            kept = kept and figure.kept
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
