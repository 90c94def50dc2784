"""What was found to lie in a replica's folder: how many objects, and a mark that changes when any of them does."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("replicas", sa.Column("objects", sa.BigInteger, comment="as far as known"))
    op.add_column("replicas", sa.Column("mark", sa.Text, comment="a digest of its keys, sizes and ETags"))
