"""Metrics that were read from the logs of a run afterwards, and kept with it."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("runs", sa.Column("measured", sa.Text, comment="JSON: metrics read from its logs afterwards"))
