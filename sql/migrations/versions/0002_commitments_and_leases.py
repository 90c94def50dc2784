"""What is paid for already, how often spot is interrupted, what live runs hold, and which workload a run is of."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "commitments",
        sa.Column("commitment", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False, comment="training_plan or savings_plan"),
        sa.Column("platform", sa.Text, nullable=False),
        sa.Column("region", sa.Text, nullable=False, comment="* of a savings plan for all"),
        sa.Column("instance_type", sa.Text, nullable=False, comment="* of a savings plan for all"),
        sa.Column("slots", sa.Integer, comment="of a training plan"),
        sa.Column("usd_per_hour", sa.Double, comment="of a savings plan: what is paid, used or not"),
        sa.Column("discount", sa.Double, comment="of a savings plan: what on-demand hours cost less, 0 to 1"),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("arn", sa.Text, comment="of a training plan"),
        sa.PrimaryKeyConstraint("commitment", name="pk_commitments"),
        sa.CheckConstraint("slots >= 0", name="slots"),
        sa.CheckConstraint("usd_per_hour >= 0", name="usd"),
        sa.CheckConstraint("discount BETWEEN 0 AND 1", name="discount"),
    )
    op.create_table(
        "interruptions",
        *(sa.Column(name, sa.Text, nullable=False) for name in ("instance_type", "region", "platform")),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("per_hour", sa.Double, nullable=False, comment="of one spot instance"),
        sa.Column("source", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("instance_type", "region", "platform", "observed_at", name="pk_interruptions"),
        sa.CheckConstraint("per_hour >= 0", name="per_hour"),
    )
    op.create_table(
        "leases",
        *(sa.Column(name, sa.Text, nullable=False) for name in ("run", "platform", "region", "instance_type")),
        sa.Column("purchase", sa.Text, nullable=False),
        sa.Column("arn", sa.Text, nullable=False, comment="of a committed lane's training plan, or empty"),
        sa.Column("slots", sa.Integer, nullable=False, comment="instances that the run may have at once"),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("run", "platform", "region", "instance_type", "purchase", "arn", name="pk_leases"),
        sa.ForeignKeyConstraint(["run"], ["runs.name"], name="fk_leases_run", ondelete="CASCADE"),
        sa.CheckConstraint("slots >= 0", name="slots"),
    )
    comment = "the sweep's name: what one run learns, the next one uses"
    op.add_column("runs", sa.Column("workload", sa.Text, comment=comment))
    op.create_index("ix_runs_workload", "runs", ["workload"])
    # Which tasks have ended is asked for at every sync: the index answers by itself.
    op.drop_index("ix_results_run", "results")
    op.create_index("ix_results_run", "results", ["run", "state", "task"])
    _name_workloads()


def _name_workloads() -> None:
    """Of the runs that are there already: they have taught something, too."""
    runs = sa.table("runs", sa.column("name"), sa.column("document"), sa.column("workload"))
    connection = op.get_bind()
    for name, document in connection.execute(sa.select(runs.c.name, runs.c.document)).fetchall():
        sweep = json.loads(document).get("plan", {}).get("sweep", {})
        connection.execute(sa.update(runs).where(runs.c.name == name).values(workload=sweep.get("name")))
