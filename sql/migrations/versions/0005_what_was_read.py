"""The ledger knows what it has read of the bucket: which runs are there, which results, and how far."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("runs", sa.Column("anchored", sa.Boolean, comment="run.json was seen in the bucket"))
    op.add_column("runs", sa.Column("silent", sa.Text, comment="ranges: tasks that a cancel ended before they began"))
    op.add_column("runs", sa.Column("seen", sa.Text, comment="JSON: how far the bucket has been read"))
    op.create_table(
        "submissions",
        sa.Column("run", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("document", sa.Text, nullable=False, comment="the submission as it lies in the bucket"),
        sa.PrimaryKeyConstraint("run", "number", name="pk_submissions"),
        sa.ForeignKeyConstraint(["run"], ["runs.name"], name="fk_submissions_run", ondelete="CASCADE"),
    )
    # They are a cache of the control bucket: the next sync of a run reads its results again.
    op.execute("DELETE FROM results")
    op.add_column(
        "results", sa.Column("read_etag", sa.Text, nullable=False, comment="of the document, empty if unread")
    )
    op.add_column(
        "results", sa.Column("proven", sa.Integer, nullable=False, comment="newest attempt known to have ended")
    )
