"""When each feed last brought its facts of a Region: one that has not changed since is no older than that."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "refreshes",
        sa.Column("feed", sa.Text, nullable=False, comment="the source of the facts that it brings"),
        sa.Column("region", sa.Text, nullable=False),
        sa.Column(
            "refreshed_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="its facts of this Region held then, whenever observed",
        ),
        sa.PrimaryKeyConstraint("feed", "region", name="pk_refreshes"),
    )
