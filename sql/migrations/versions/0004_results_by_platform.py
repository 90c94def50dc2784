"""Results say on which platform, and on how many instances, the newest attempt ran."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    # They are a cache of the control bucket: the next sync of a run reads its results again.
    op.execute("DELETE FROM results")
    op.add_column("results", sa.Column("platform", sa.Text, nullable=False))
    op.add_column("results", sa.Column("instances", sa.Integer, nullable=False, comment="of the newest attempt"))
