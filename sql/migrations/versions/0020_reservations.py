"""Commitments without an end: reservations that last until somebody cancels them."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

_COMMENTS = {
    "kind": (sa.Text(), "training_plan, reservation or savings_plan"),
    "slots": (sa.Integer(), "of a training plan or a reservation"),
    "arn": (sa.Text(), "of a training plan or a reservation"),
}


def upgrade() -> None:
    with op.batch_alter_table("commitments") as table:
        comment = "null of a reservation that lasts until it is cancelled"
        table.alter_column("ends_at", existing_type=sa.DateTime(timezone=True), nullable=True, comment=comment)
        for name, (kind, comment) in _COMMENTS.items():
            table.alter_column(name, existing_type=kind, comment=comment)
