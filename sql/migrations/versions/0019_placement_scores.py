"""How likely EC2 grants spot instances of a family in a Region."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0015"


def upgrade() -> None:
    op.create_table(
        "placement_scores",
        *(sa.Column(name, sa.Text, nullable=False) for name in ("family", "region", "platform")),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("score", sa.Integer, nullable=False, comment="how likely spot is granted: 10 is very"),
        sa.Column("source", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("family", "region", "platform", "observed_at", name="pk_placement_scores"),
        sa.CheckConstraint("score BETWEEN 1 AND 10", name="score"),
    )
