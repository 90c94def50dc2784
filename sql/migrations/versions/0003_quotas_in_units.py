"""Quotas and leases are counted in units, by the names that platforms give their quotas."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.execute(
        "CREATE TEMPORARY TABLE quotas_before AS"
        " SELECT platform, region, instance_type || '/' || purchase AS quota, observed_at, slots, source FROM quotas"
    )
    op.drop_table("quotas")
    op.create_table(
        "quotas",
        *(sa.Column(name, sa.Text, nullable=False) for name in ("platform", "region", "quota")),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "units", sa.Integer, nullable=False, comment="such as instances, vCPUs or GPUs: what the platform counts"
        ),
        sa.Column("source", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("platform", "region", "quota", "observed_at", name="pk_quotas"),
        sa.CheckConstraint("units >= 0", name="units"),
    )
    op.execute(
        "INSERT INTO quotas (platform, region, quota, observed_at, units, source)"
        " SELECT platform, region, quota, observed_at, slots, source FROM quotas_before"
    )
    op.execute("DROP TABLE quotas_before")
    # What live runs hold is taken anew when they are synced.
    op.drop_table("leases")
    op.create_table(
        "leases",
        *(sa.Column(name, sa.Text, nullable=False) for name in ("run", "platform", "region", "quota")),
        sa.Column("units", sa.Integer, nullable=False, comment="what the run may hold of the quota at once"),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("run", "platform", "region", "quota", name="pk_leases"),
        sa.ForeignKeyConstraint(["run"], ["runs.name"], name="fk_leases_run", ondelete="CASCADE"),
        sa.CheckConstraint("units >= 0", name="units"),
    )
