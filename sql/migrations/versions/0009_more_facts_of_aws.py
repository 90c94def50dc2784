"""What is used of quotas, what instance types are made of, who told a commitment. A history of prices stays small."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("quotas", sa.Column("code", sa.Text, comment="service/code, by which AWS is asked to raise it"))
    op.add_column("commitments", sa.Column("source", sa.Text, comment="the file or the feed that told it, if known"))
    op.create_table(
        "quota_use",
        *(sa.Column(name, sa.Text, nullable=False) for name in ("platform", "region", "quota")),
        sa.Column("used", sa.Integer, nullable=False, comment="units that the whole account uses, ours among them"),
        sa.Column("source", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("platform", "region", "quota", name="pk_quota_use"),
        sa.CheckConstraint("used >= 0", name="used"),
    )
    op.create_table(
        "instance_types",
        sa.Column("instance_type", sa.Text, nullable=False, comment="as EC2 calls it: without ml."),
        sa.Column("vcpus", sa.Integer, nullable=False),
        sa.Column("memory_gib", sa.Double, nullable=False),
        sa.Column("chip", sa.Text, comment="its accelerators' name, if it has some"),
        sa.Column("chips", sa.Integer),
        sa.Column("chip_memory_gib", sa.Integer, comment="of each"),
        sa.Column("gbps", sa.Double, comment="the most that its network carries, if known"),
        sa.Column("efa", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("instance_type", name="pk_instance_types"),
        sa.CheckConstraint("vcpus > 0", name="vcpus"),
        sa.CheckConstraint("memory_gib > 0", name="memory"),
    )
    op.create_table(
        "compactions",
        sa.Column("compacted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "daily_before",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="of each day before it, the last observations are kept",
        ),
        sa.Column(
            "weekly_before",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="of each week before it, the last observations are kept",
        ),
        sa.PrimaryKeyConstraint("compacted_at", name="pk_compactions"),
    )
    if op.get_bind().dialect.name == "sqlite":
        _store_prices_by_their_key()


def _store_prices_by_their_key() -> None:
    """Let SQLite keep prices in the order of their key alone: a row and an entry of an index were two copies of it."""
    op.rename_table("prices", "prices_before")
    op.create_table(
        "prices",
        *(sa.Column(name, sa.Text, nullable=False) for name in ("instance_type", "region", "purchase", "platform")),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("usd_per_hour", sa.Double, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("instance_type", "region", "purchase", "platform", "observed_at", name="pk_prices"),
        sa.CheckConstraint("usd_per_hour >= 0", name="usd"),
        sqlite_with_rowid=False,
    )
    columns = "instance_type, region, purchase, platform, observed_at, usd_per_hour, source"
    op.execute(f"INSERT INTO prices ({columns}) SELECT {columns} FROM prices_before ORDER BY {columns}")
    op.drop_table("prices_before")
