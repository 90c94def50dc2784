"""The catalog (what exists) and the ledger (what was run)."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "campaigns",
        sa.Column("campaign", sa.Text, nullable=False),
        sa.Column("recorded_from", sa.Date),
        sa.Column("recorded_to", sa.Date),
        sa.Column("description", sa.Text),
        sa.PrimaryKeyConstraint("campaign", name="pk_campaigns"),
    )
    op.create_table(
        "campaign_tags",
        sa.Column("campaign", sa.Text, nullable=False),
        sa.Column("tag", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("campaign", "tag", name="pk_campaign_tags"),
        sa.ForeignKeyConstraint(
            ["campaign"], ["campaigns.campaign"], name="fk_campaign_tags_campaign", ondelete="CASCADE"
        ),
    )
    op.create_table(
        "datasets",
        sa.Column("dataset", sa.Text, nullable=False, comment="campaign@version"),
        sa.Column("campaign", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("dataset", name="pk_datasets"),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.campaign"], name="fk_datasets_campaign"),
        sa.CheckConstraint("bytes >= 0", name="bytes"),
    )
    op.create_index("ix_datasets_campaign", "datasets", ["campaign"])
    op.create_table(
        "replicas",
        sa.Column("dataset", sa.Text, nullable=False),
        sa.Column("region", sa.Text, nullable=False),
        sa.Column("s3_uri", sa.Text, nullable=False),
        sa.Column("bytes", sa.BigInteger, comment="where it differs from the dataset's"),
        sa.PrimaryKeyConstraint("dataset", "region", name="pk_replicas"),
        sa.ForeignKeyConstraint(["dataset"], ["datasets.dataset"], name="fk_replicas_dataset"),
        sa.CheckConstraint("bytes >= 0", name="bytes"),
    )
    op.create_table(
        "prices",
        *_lane(),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("usd_per_hour", sa.Double, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        _lane_key("prices"),
        sa.CheckConstraint("usd_per_hour >= 0", name="usd"),
    )
    op.create_table(
        "quotas",
        *_lane(),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("slots", sa.Integer, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        _lane_key("quotas"),
        sa.CheckConstraint("slots >= 0", name="slots"),
    )
    op.create_table(
        "transfer_prices",
        sa.Column("from_region", sa.Text, nullable=False),
        sa.Column("to_region", sa.Text, nullable=False),
        sa.Column("from_gb", sa.Double, nullable=False, comment="where this tier begins"),
        sa.Column("usd_per_gb", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("from_region", "to_region", "from_gb", name="pk_transfer_prices"),
        sa.CheckConstraint("from_gb >= 0", name="gb"),
        sa.CheckConstraint("usd_per_gb >= 0", name="usd"),
    )
    op.create_table(
        "runs",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("plan_id", sa.Text, nullable=False),
        sa.Column("bucket", sa.Text, nullable=False),
        sa.Column("region", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("tasks", sa.BigInteger, nullable=False),
        sa.Column("cancelled", sa.Boolean, nullable=False),
        sa.Column("document", sa.Text, nullable=False, comment="run.json"),
        sa.PrimaryKeyConstraint("name", name="pk_runs"),
    )
    op.create_table(
        "arrays",
        sa.Column("run", sa.Text, nullable=False),
        sa.Column("submission", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("tasks", sa.Text, nullable=False, comment="ranges, in the manifest's order"),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("job_id", sa.Text, comment="null until submitted"),
        sa.PrimaryKeyConstraint("run", "submission", "number", name="pk_arrays"),
        sa.ForeignKeyConstraint(["run"], ["runs.name"], name="fk_arrays_run", ondelete="CASCADE"),
    )
    op.create_table(
        "results",
        sa.Column("run", sa.Text, nullable=False),
        sa.Column("task", sa.BigInteger, nullable=False),
        sa.Column("etag", sa.Text, nullable=False),
        sa.Column("submission", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("region", sa.Text, nullable=False),
        sa.Column("instance_type", sa.Text, nullable=False),
        sa.Column("purchase", sa.Text, nullable=False),
        sa.Column("training", sa.Text, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("billable_s", sa.Double, nullable=False),
        sa.Column("usd", sa.Double, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("metrics", sa.Text, nullable=False, comment="JSON"),
        sa.Column("started_at", sa.Double),
        sa.Column("ended_at", sa.Double),
        sa.Column("updated_at", sa.Double, nullable=False),
        sa.Column("document", sa.Text, nullable=False, comment="the result as it lies in the bucket"),
        sa.PrimaryKeyConstraint("run", "task", name="pk_results"),
        sa.ForeignKeyConstraint(["run"], ["runs.name"], name="fk_results_run", ondelete="CASCADE"),
    )
    op.create_index("ix_results_run", "results", ["run", "state"])


def _lane() -> list[sa.Column[str]]:
    names = ("instance_type", "region", "purchase", "platform")
    return [sa.Column(name, sa.Text, nullable=False) for name in names]


def _lane_key(table: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint("instance_type", "region", "purchase", "platform", "observed_at", name=f"pk_{table}")
