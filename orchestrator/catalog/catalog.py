"""The catalog, as the rest of the program uses it."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, union

from orchestrator.catalog.ages import newest_prices, tell_ages
from orchestrator.catalog.check_catalog import Problem, check_catalog
from orchestrator.catalog.compact import Compacted, compact, tell_thinned
from orchestrator.catalog.files.cells import is_local
from orchestrator.catalog.files.kinds import KINDS
from orchestrator.catalog.files.load import LoadReport, load, load_rows
from orchestrator.catalog.files.observe import observe
from orchestrator.catalog.files.rows import CatalogRows
from orchestrator.catalog.files.to_come import list_to_come, tell_to_come
from orchestrator.catalog.platforms import Platforms
from orchestrator.catalog.price_history import LanePrices, price_history
from orchestrator.catalog.priors import LanePrior, known_machines, lane_priors
from orchestrator.catalog.quotas import QuotaUse, quota_use
from orchestrator.catalog.shapes import told_shapes
from orchestrator.catalog.snapshot import write_snapshot
from orchestrator.catalog.survey.select_types import select_types
from orchestrator.catalog.survey.survey import resurvey, survey
from orchestrator.db.engine import reading
from orchestrator.db.tables import campaign_tags, campaigns, datasets, prices, refreshes, replicas
from orchestrator.errors import CatalogError, did_you_mean
from orchestrator.settings.max_age import read_max_age

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection, Engine

    from orchestrator.catalog.files.observe import Observed, Taken
    from orchestrator.catalog.market import Market, Past
    from orchestrator.db.database import Database
    from orchestrator.platforms.base import Planning
    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.manifest import ClassicLine
    from orchestrator.wire.shapes import Shape
    from orchestrator.wire.task import Lane

logger = logging.getLogger(__name__)


class Catalog:
    """Holds what exists: campaigns, their datasets and replicas, prices, quotas.

    The database is opened on first use.
    """

    def __init__(
        self,
        database: Database,
        planning: Mapping[str, Planning],
        usual: Sequence[str] = (),
        max_age: str | dict[str, str] | None = None,
    ) -> None:
        """Take the database, and the planning part of each installed platform by its name.

        `usual` are the platforms of sweeps that name none; all that are installed, if it is empty. `max_age` is the
        setting of that name.
        """
        self.database = database
        self._platforms = Platforms(planning, usual)
        self.ages = read_max_age(max_age or {})
        self._warned: set[str] = set()

    @property
    def engine(self) -> Engine:
        """The way into the database. Raises CatalogError if its schema is not this code's, nor can be made so."""
        return self.database.engine

    @property
    def engine_to_read(self) -> Engine:
        """The way into the database for whoever only reads: it makes no file where there is none."""
        return self.database.to_read.engine

    def upgrade(self) -> None:
        """Bring the database's schema up to this code's."""
        self.database.upgrade()

    def load(self, paths: Iterable[str | Path], kind: str | None = None) -> LoadReport:
        """Load files, or folders of them: all or nothing. Return what became of their rows.

        Raise CatalogError for the first thing that is wrong with them, at file:line:column. A lane that its platform
        does not have is wrong, too.
        """
        return load(self.engine, self._platforms, [Path(path) for path in paths], kind)

    def take(
        self, kinds: Mapping[str, Mapping[int, Mapping[str, object]]], source: str, without: Sequence[str] = ()
    ) -> LoadReport:
        """Take in rows of several kinds that were found together: all of them or none, as `load` takes files.

        Each row is given by a number, which errors name as the line at which it stands in the source. The replicas at
        the addresses `without` are removed first.
        """
        in_order = [(name, kind) for name, kind in KINDS.items() if name in kinds]
        found = [CatalogRows.of_feed(kind, kinds[name], source, source) for name, kind in in_order]
        return load_rows(self.engine, self._platforms, found, without)

    def observe(self, observed: Observed) -> Taken:
        """Take in what a feed read of a Region, and return what became of the rows.

        Raise CatalogError for a row that no file could have; then nothing is changed.
        """
        return observe(self.engine, self._platforms, observed)

    def show(self, kind: str) -> list[dict[str, Any]]:
        """Return all rows of a kind in columns of its files, in the order of their keys."""
        if kind not in KINDS:
            raise CatalogError(f"unknown kind {kind!r}", hint=did_you_mean(kind, list(KINDS)))
        table, columns = KINDS[kind].table, KINDS[kind].shown
        if table is datasets:
            columns = [datasets.c.dataset.name, *columns]
        keys = [name for name in columns if name in table.primary_key.columns]
        with reading(self.engine_to_read) as connection:
            rows = [dict(row) for row in connection.execute(select(table)).mappings()]
            if table is campaigns:
                tags = _tags(connection)
                rows = [row | {"tags": tags.get(row["campaign"], [])} for row in rows]
        rows.sort(key=lambda row: [row[key] for key in keys])
        return [{name: row[name] for name in columns} for row in rows]

    def snapshot(self, path: Path, as_of: datetime | None = None) -> int:
        """Write what a plan is made from into a new SQLite file, as it is or as it was known at a moment.

        Return the number of rows in it.
        """
        return write_snapshot(self.engine_to_read, path, as_of)

    def compact(self, now: datetime | None = None, *, dry_run: bool = False) -> Compacted:
        """Thin out old observations: one a day, then one a week. A dry run says what would go, and removes nothing."""
        return compact(self.engine, self._platforms, now or datetime.now(timezone.utc), dry_run=dry_run)

    def tell_thinned(self, moment: datetime) -> str:
        """Return in one line what of the facts of a moment is not known any more; nothing if all of it is."""
        with reading(self.engine_to_read) as connection:
            return tell_thinned(connection, moment)

    def regions(self) -> list[str]:
        """Return the Regions that are known: those with data, and those with prices."""
        with reading(self.engine_to_read) as connection:
            both = union(select(replicas.c.region), select(prices.c.region))
            return sorted(region for region in connection.scalars(both) if not is_local(region))

    def mark(self, dataset: str, region: str) -> str:
        """Return the mark of a dataset's replica in a Region: a digest of what lies there. Nothing if it is unknown."""
        query = select(replicas.c.mark).where((replicas.c.dataset == dataset) & (replicas.c.region == region))
        with reading(self.engine_to_read) as connection:
            return connection.scalar(query) or ""

    def totals(self) -> dict[str, int]:
        """Return how many rows there are of each kind."""
        with reading(self.engine_to_read) as connection:
            counts = {name: select(func.count()).select_from(kind.table) for name, kind in KINDS.items()}
            return {name: connection.scalars(count).one() for name, count in counts.items()}

    def check(self, now: datetime | None = None) -> list[Problem]:
        """Return what is missing or looks wrong, in words."""
        return check_catalog(self.engine_to_read, self._platforms, self.ages, now or datetime.now(timezone.utc))

    def price_history(self, instance_types: Sequence[str], now: datetime | None = None) -> list[LanePrices]:
        """Return what instances of these types cost in each lane, and have cost, cheapest first."""
        with reading(self.engine_to_read) as connection:
            return price_history(connection, instance_types, now or datetime.now(timezone.utc))

    def priced_types(self) -> list[str]:
        """Return the instance types that have a price somewhere."""
        with reading(self.engine_to_read) as connection:
            return sorted(connection.scalars(select(prices.c.instance_type).distinct()))

    def lane_priors(self, lanes: Iterable[Lane]) -> dict[Lane, LanePrior]:
        """Return what is thought of these lanes before anything of ours has run there."""
        with reading(self.engine_to_read) as connection:
            return lane_priors(connection, self._platforms, lanes, datetime.now(timezone.utc))

    def known_machines(self) -> set[tuple[str, str, str]]:
        """Return each platform, Region and instance type that has a price."""
        with reading(self.engine_to_read) as connection:
            return known_machines(connection, datetime.now(timezone.utc))

    def first_price(self) -> datetime | None:
        """Return when the first price was observed that is known; None if there is none."""
        with reading(self.engine_to_read) as connection:
            found: datetime | None = connection.scalar(select(func.min(prices.c.observed_at)))
        return found

    def quota_use(self, now: datetime | None = None) -> list[QuotaUse]:
        """Return how much of each known quota there is, and what live runs hold of it."""
        with reading(self.engine_to_read) as connection:
            return quota_use(connection, now or datetime.now(timezone.utc))

    def refreshed(self) -> dict[tuple[str, str], datetime]:
        """Return when each feed was last read in each Region, by their names."""
        with reading(self.engine_to_read) as connection:
            return {(row.feed, row.region): row.refreshed_at for row in connection.execute(select(refreshes))}

    def tell_ages(self, lanes: Iterable[Lane] | None = None, now: datetime | None = None) -> tuple[str, ...]:
        """Return in words which facts about these lanes, or all, are too old to plan by; nothing if none is."""
        now = now or datetime.now(timezone.utc)
        with reading(self.engine_to_read) as connection:
            if lanes is None:
                lanes = [lane for lane in newest_prices(connection, now) if self._platforms.may_train(lane)]
            return tell_ages(connection, lanes, self._platforms, self.ages, now)

    def tell_to_come(self, now: datetime | None = None) -> str:
        """Return in words which facts are not used, for they are dated later than now; nothing if none is."""
        with reading(self.engine_to_read) as connection:
            early = list_to_come(connection, now or datetime.now(timezone.utc))
        return tell_to_come(early) if early else ""

    def told_shapes(self) -> dict[str, Shape]:
        """Return what the catalog was told of instance types, by their names without `ml.`."""
        with reading(self.engine_to_read) as connection:
            return told_shapes(connection)

    def select_types(self, sweep: Sweep) -> Sweep:
        """Return the sweep with the instance types that its `where.resources` stands for; as it is, if it has none.

        Call it before `survey`. Raise InfeasibleError where no type for sale will do.
        """
        return select_types(self.engine_to_read, self._platforms, sweep)

    def survey(
        self,
        sweep: Sweep,
        classic: Sequence[ClassicLine] | None = None,
        past: Past | None = None,
        now: datetime | None = None,
    ) -> Market:
        """Return all that the planner may know for this sweep. `past` is what was learned from earlier runs.

        The data is that of a classic JOBARRAY's lines, if these are given, and otherwise what the sweep selects.
        Raise CatalogError if the sweep selects nothing, InfeasibleError if a dataset can be trained nowhere.
        """
        self._warn_of_clocks(sweep, now or datetime.now(timezone.utc))
        return survey(self.engine_to_read, self._platforms, sweep, classic, past, now)

    def resurvey(self, sweep: Sweep, names: Sequence[str], classic: Sequence[ClassicLine] = ()) -> Market:
        """Return the same for exactly these datasets, or a classic JOBARRAY's lines, whatever the sweep selects today.

        What the catalog does not know is left out: the Market may be empty.
        """
        self._warn_of_clocks(sweep, datetime.now(timezone.utc))
        return resurvey(self.engine_to_read, self._platforms, sweep, names, classic)

    def _warn_of_clocks(self, sweep: Sweep, now: datetime) -> None:
        """Warn, once, of facts about what the sweep may use that are dated later than now: they are not used."""
        with reading(self.engine_to_read) as connection:
            early = list_to_come(connection, now, self._platforms.types_asked(sweep.where))
        if early and (line := tell_to_come(early)) not in self._warned:
            self._warned.add(line)
            logger.warning("%s", line)


def _tags(connection: Connection) -> dict[str, list[str]]:
    tags: dict[str, list[str]] = {}
    for row in connection.execute(select(campaign_tags)):
        tags.setdefault(row.campaign, []).append(row.tag)
    return {campaign: sorted(names) for campaign, names in tags.items()}
