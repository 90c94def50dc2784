"""The page at the server's address: one document, without a script, that reloads itself."""

from __future__ import annotations

from datetime import datetime, timezone
from html import escape
from typing import Any

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #667085; --line: #e4e7ec; --paper: #fff; --ground: #f7f8fa;
  --good: #18794e; --bad: #c4320a; --busy: #1f5fbf; --wait: #8a6d1b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #98a2b3; --line: #2b3240; --paper: #161b24;
  --ground: #0e1219; --good: #4cc38a; --bad: #ff8b66; --busy: #7fb2ff; --wait: #e0c15a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main, header { max-width: 74rem; margin: 0 auto; padding: 1.5rem 1.25rem 0; }
h1 { font-size: 1.35rem; margin: 0; } h2 { font-size: 1.05rem; margin: 0 0 .75rem; }
header p { margin: .15rem 0 0; color: var(--soft); }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 10px; padding: 1.1rem 1.25rem;
  margin-bottom: 1.25rem; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 500; color: var(--soft); font-size: .85rem; }
th, td { padding: .3rem 1rem .3rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
tr:last-child td { border-bottom: 0; } .number { text-align: right; }
.none { color: var(--soft); margin: 0; }
h3 { font-size: .85rem; color: var(--soft); margin: .9rem 0 .2rem; font-weight: 500; }
.SUCCEEDED, .Completed { color: var(--good); } .FAILED, .Failed { color: var(--bad); }
.RUNNING, .STARTING, .running, .Training, .Downloading, .Uploading { color: var(--busy); }
.RUNNABLE, .PENDING, .SUBMITTED, .pending, .shutting-down { color: var(--wait); }
.Starting, .Pending, .Restarting, .Interrupted, .Stopping { color: var(--wait); }
"""


def render(facts: dict[str, Any]) -> str:
    """Return the page as HTML. `facts` are those of an `Overview`."""
    moment = datetime.fromtimestamp(facts["now"], timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
    title = f"<h1>The local cloud</h1><p>{escape(facts['endpoint'])} · its clock says {moment}</p>"
    parts = [_faults(facts["faults"]), *(_region(region) for region in facts["regions"]), _buckets(facts["buckets"])]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The local cloud</title>'
        '<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="5">'
        f"<style>{_STYLE}</style></head><body><header>{title}</header><main>{''.join(parts)}</main></body></html>"
    )


def _faults(faults: list[dict[str, Any]]) -> str:
    rows = [[each["id"], each["kind"], each["what"], each["region"], each["seen"], each["struck"]] for each in faults]
    table = _table(["#", "kind", "what", "Region", "seen", "struck"], rows, "None: all goes as it should.")
    return _section("faults", "Faults", table)


def _region(region: dict[str, Any]) -> str:
    jobs = [[each["name"], each["queue"], _state(each["status"]), _children(each)] for each in region["newest_jobs"]]
    trainings = [
        [
            each["name"],
            f"{each['instances']} × {each['type']}",
            each["purchase"],
            _state(each["status"]),
            each["seconds"],
        ]
        for each in region["newest_trainings"]
    ]
    instances = [
        [
            each["id"],
            each["type"],
            each["zone"],
            each["purchase"],
            _state(each["status"]),
            each["reason"],
            each["seconds"],
        ]
        for each in region["newest_instances"]
    ]
    return _section(
        region["name"],
        region["name"],
        f"<h3>Batch jobs ({region['jobs']})</h3>",
        _table(["name", "queue", "state", "children"], jobs, f"None yet, in {', '.join(region['queues'])}."),
        f"<h3>Trainings ({region['trainings']})</h3>",
        _table(["name", "instances", "purchase", "state", "seconds"], trainings, "None yet."),
        f"<h3>EC2 instances ({region['instances']})</h3>",
        _table(["id", "type", "zone", "purchase", "state", "reason", "seconds"], instances, "None yet."),
    )


def _buckets(buckets: list[dict[str, Any]]) -> str:
    rows = [[each["name"], each["region"], each["objects"], each["bytes"]] for each in buckets]
    return _section("buckets", "Buckets", _table(["name", "Region", "objects", "bytes"], rows, "None."))


class _Markup(str):
    """A text that is HTML already."""


def _state(state: str) -> _Markup:
    return _Markup(f'<span class="{escape(state)}">{escape(state)}</span>')


def _children(job: dict[str, Any]) -> _Markup:
    return _Markup(" · ".join(f"{_state(state)} {count:,}" for state, count in job["children"].items()))


def _section(name: str, title: str, *parts: str) -> str:
    return f'<section id="{escape(name)}"><h2>{escape(title)}</h2>{"".join(parts)}</section>'


def _table(heads: list[str], rows: list[list[Any]], otherwise: str) -> str:
    if not rows:
        return f'<p class="none">{escape(otherwise)}</p>'
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join(_row(row) for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row(values: list[Any]) -> str:
    return f"<tr>{''.join(_cell(each) for each in values)}</tr>"


def _cell(value: Any) -> str:
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    if isinstance(value, _Markup):
        return f"<td>{value}</td>"
    return f"<td>{escape(str(value))}</td>"
