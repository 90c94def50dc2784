"""What all tables share: their metadata, and columns that several of them have."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from sqlalchemy import Column, DateTime, MetaData, Text, TypeDecorator

if TYPE_CHECKING:
    from sqlalchemy import Dialect

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


class UtcTime(TypeDecorator[datetime]):
    """A column of moments that come out in UTC, whatever zone they went in with. SQLite alone would forget the zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else value.astimezone(timezone.utc)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.replace(tzinfo=timezone.utc) if value.tzinfo is None else value.astimezone(timezone.utc)


def key_of_lane() -> list[Column[str]]:
    """Return the key columns of a lane, in the order that suits a search for some instance types."""
    names = ("instance_type", "region", "purchase", "platform")
    return [Column(name, Text, primary_key=True) for name in names]
