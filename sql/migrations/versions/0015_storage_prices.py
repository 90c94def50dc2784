"""What a gigabyte costs in S3 for a month, in each Region."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "storage_prices",
        sa.Column("region", sa.Text, nullable=False),
        sa.Column("from_gb", sa.Double, nullable=False, comment="where this tier begins"),
        sa.Column("usd_per_gb_month", sa.Double, nullable=False, comment="of S3 Standard"),
        sa.PrimaryKeyConstraint("region", "from_gb", name="pk_storage_prices"),
        sa.CheckConstraint("from_gb >= 0", name="gb"),
        sa.CheckConstraint("usd_per_gb_month >= 0", name="usd"),
    )
