"""`sweep doctor`: what is missing before a sweep can run, and the command that mends it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator import files
from orchestrator.cli import render
from orchestrator.cli.options import AsJson, Force
from orchestrator.cli.session import Session
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from orchestrator.infra.doctor.subject import Need
    from orchestrator.platforms.account.finding import Finding

_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "wrong": ("✗", "red")}


def doctor(
    context: typer.Context,
    sweep: Annotated[
        Path | None, typer.Argument(metavar="[SWEEP]", help="A sweep file: what its plan needs is looked at too.")
    ] = None,
    bundle: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all of it into a zip for support, without secrets.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Look at all that a sweep needs, and say what is missing, with the command that mends it.

    Credentials, clock, Regions, buckets, roles and what they may do (as IAM's simulator says), queues, the way to S3,
    images, quotas, what each platform needs, the database, how old its facts are. Nothing is changed. Ends with 4 if
    a permission is missing, 6 if a quota is too small, 1 if anything else is.

    Example: sweep doctor sweep.yaml
    """
    from orchestrator.infra.doctor.doctor import examine, exit_code

    session = Session.of(context)
    found = [_database(session)]
    need = _need(session, sweep, found)
    if found[0].state == "ok":
        found += _facts(session, need)
    for each in found:
        _show(each, as_json=as_json)
    for each in examine(session.settings, need):
        found.append(each)
        _show(each, as_json=as_json)
    if as_json:
        render.as_json(found)
    if bundle is not None:
        _write_bundle(session, found, sweep, bundle, force=force)
    return exit_code(found)


def _database(session: Session) -> Finding:
    from orchestrator.platforms.account.finding import ok, wrong

    try:
        rows = sum(session.orchestrator.catalog.totals().values())
    except CatalogError as error:
        return wrong("database", error.where or "catalog", error.message, "sweep catalog upgrade")
    return ok("database", "catalog", f"its schema is current, {rows:,} rows")


def _facts(session: Session, need: Need) -> list[Finding]:
    """Return whether the catalog's facts are young enough to plan by: those of the sweep's plan, or all."""
    from orchestrator.platforms.account.finding import ok, warning

    catalog = session.orchestrator.catalog
    if not catalog.totals()["prices"]:
        return [warning("facts", "catalog", "it has no prices yet: nothing can be planned", "sweep catalog refresh")]
    told = [
        warning("facts", "catalog", line, "sweep catalog refresh") for line in catalog.tell_ages(need.lanes or None)
    ]
    if line := catalog.tell_to_come():
        told.append(warning("facts", "catalog", line, "sweep catalog check"))
    return told or [ok("facts", "catalog", "young enough to plan by, as max_age says")]


def _need(session: Session, sweep: Path | None, found: list[Finding]) -> Need:
    """Return what a sweep needs, and add to what was found whether it can be planned."""
    from orchestrator.infra.doctor.need import need_of
    from orchestrator.infra.doctor.subject import Need

    if sweep is None:
        return Need()
    read = session.read_sweep(sweep)
    nights = read.schedule is not None
    need, finding = need_of(lambda: session.orchestrator.plan(read), str(sweep), nights=nights)
    found.append(finding)
    return need


def _show(finding: Finding, *, as_json: bool) -> None:
    """Print a finding at once: looking at everything takes a while."""
    if as_json:
        return
    mark, colour = _MARKS[finding.state]
    text = render.printable(" ".join(f"{finding.about} {finding.where}: {finding.message}".split()))
    render.line(f"{render.paint(mark, colour, sys.stdout)} {text}")
    if finding.mend:
        render.line(f"    {render.printable(finding.mend)}")


def _write_bundle(session: Session, found: list[Finding], sweep: Path | None, file: Path, *, force: bool) -> None:
    from orchestrator.infra.doctor.bundle import make_bundle

    files.check_replaceable(file, _is_bundle, "bundle of ours", force=force)
    texts = {sweep.name: sweep.read_text(encoding="utf-8")} if sweep else {}
    files.write(file, make_bundle(found, asdict(session.settings), texts))
    render.say(f"{file}: what was found, settings, versions{', the sweep' if sweep else ''}; look into it first")


def _is_bundle(file: Path) -> bool:
    import zipfile

    if not zipfile.is_zipfile(file):
        return False
    with zipfile.ZipFile(file) as archive:
        return "findings.json" in archive.namelist()
