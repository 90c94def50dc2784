"""Every table, in plain SQLAlchemy Core: rows go straight to statements and DataFrames."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    Double,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
)

import orchestrator.db.history_tables  # noqa: F401 - its tables are of the same metadata
from orchestrator.db.schema import UtcTime as UtcTime
from orchestrator.db.schema import key_of_lane
from orchestrator.db.schema import metadata as metadata

# The catalog.

campaigns = Table(
    "campaigns",
    metadata,
    Column("campaign", Text, primary_key=True),
    Column("recorded_from", Date),
    Column("recorded_to", Date),
    Column("description", Text),
)

campaign_tags = Table(
    "campaign_tags",
    metadata,
    Column("campaign", ForeignKey(campaigns.c.campaign, ondelete="CASCADE"), primary_key=True),
    Column("tag", Text, primary_key=True),
)

datasets = Table(
    "datasets",
    metadata,
    Column("dataset", Text, primary_key=True, comment="campaign@version"),
    Column("campaign", ForeignKey(campaigns.c.campaign), nullable=False, index=True),
    Column("version", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    CheckConstraint("bytes >= 0", name="bytes"),
)

replicas = Table(
    "replicas",
    metadata,
    Column("dataset", ForeignKey(datasets.c.dataset), primary_key=True),
    Column("region", Text, primary_key=True),
    Column("s3_uri", Text, nullable=False),
    Column("bytes", BigInteger, comment="where it differs from the dataset's"),
    Column("objects", BigInteger, comment="as far as known"),
    Column("mark", Text, comment="a digest of its keys, sizes and ETags"),
    CheckConstraint("bytes >= 0", name="bytes"),
)

prices = Table(
    "prices",
    metadata,
    *key_of_lane(),
    Column("observed_at", UtcTime, primary_key=True),
    Column("usd_per_hour", Double, nullable=False),
    Column("source", Text, nullable=False),
    CheckConstraint("usd_per_hour >= 0", name="usd"),
    sqlite_with_rowid=False,  # a year of them is half as large so
)

quotas = Table(
    "quotas",
    metadata,
    *(Column(name, Text, primary_key=True) for name in ("platform", "region", "quota")),
    Column("observed_at", UtcTime, primary_key=True),
    Column("units", Integer, nullable=False, comment="such as instances, vCPUs or GPUs: what the platform counts"),
    Column("source", Text, nullable=False),
    Column("code", Text, comment="service/code, by which AWS is asked to raise it"),
    CheckConstraint("units >= 0", name="units"),
)

quota_use = Table(
    "quota_use",
    metadata,
    *(Column(name, Text, primary_key=True) for name in ("platform", "region", "quota")),
    Column("used", Integer, nullable=False, comment="units that the whole account uses, ours among them"),
    Column("source", Text, nullable=False),
    CheckConstraint("used >= 0", name="used"),
)
"""What is used of quotas now. What has no row here, and was looked for, is not used."""

transfer_prices = Table(
    "transfer_prices",
    metadata,
    Column("from_region", Text, primary_key=True),
    Column("to_region", Text, primary_key=True),
    Column("from_gb", Double, primary_key=True, comment="where this tier begins"),
    Column("usd_per_gb", Double, nullable=False),
    CheckConstraint("from_gb >= 0", name="gb"),
    CheckConstraint("usd_per_gb >= 0", name="usd"),
)

storage_prices = Table(
    "storage_prices",
    metadata,
    Column("region", Text, primary_key=True),
    Column("from_gb", Double, primary_key=True, comment="where this tier begins"),
    Column("usd_per_gb_month", Double, nullable=False, comment="of S3 Standard"),
    CheckConstraint("from_gb >= 0", name="gb"),
    CheckConstraint("usd_per_gb_month >= 0", name="usd"),
)

commitments = Table(
    "commitments",
    metadata,
    Column("commitment", Text, primary_key=True),
    Column("kind", Text, nullable=False, comment="training_plan, reservation or savings_plan"),
    Column("platform", Text, nullable=False),
    Column("region", Text, nullable=False, comment="* of a savings plan for all"),
    Column("instance_type", Text, nullable=False, comment="* of a savings plan for all"),
    Column("slots", Integer, comment="of a training plan or a reservation"),
    Column("usd_per_hour", Double, comment="of a savings plan: what is paid, used or not"),
    Column("discount", Double, comment="of a savings plan: what on-demand hours cost less, 0 to 1"),
    Column("starts_at", UtcTime, nullable=False),
    Column("ends_at", UtcTime, comment="null of a reservation that lasts until it is cancelled"),
    Column("arn", Text, comment="of a training plan or a reservation"),
    Column("source", Text, comment="the file or the feed that told it, if known"),
    CheckConstraint("slots >= 0", name="slots"),
    CheckConstraint("usd_per_hour >= 0", name="usd"),
    CheckConstraint("discount BETWEEN 0 AND 1", name="discount"),
)

interruptions = Table(
    "interruptions",
    metadata,
    *(Column(name, Text, primary_key=True) for name in ("instance_type", "region", "platform")),
    Column("observed_at", UtcTime, primary_key=True),
    Column("per_hour", Double, nullable=False, comment="of one spot instance"),
    Column("source", Text, nullable=False),
    CheckConstraint("per_hour >= 0", name="per_hour"),
)

placement_scores = Table(
    "placement_scores",
    metadata,
    *(Column(name, Text, primary_key=True) for name in ("family", "region", "platform")),
    Column("observed_at", UtcTime, primary_key=True),
    Column("score", Integer, nullable=False, comment="how likely spot is granted: 10 is very"),
    Column("source", Text, nullable=False),
    CheckConstraint("score BETWEEN 1 AND 10", name="score"),
)

instance_types = Table(
    "instance_types",
    metadata,
    Column("instance_type", Text, primary_key=True, comment="as EC2 calls it: without ml."),
    Column("vcpus", Integer, nullable=False),
    Column("memory_gib", Double, nullable=False),
    Column("chip", Text, comment="its accelerators' name, if it has some"),
    Column("chips", Integer),
    Column("chip_memory_gib", Integer, comment="of each"),
    Column("gbps", Double, comment="the most that its network carries, if known"),
    Column("efa", Boolean, nullable=False),
    CheckConstraint("vcpus > 0", name="vcpus"),
    CheckConstraint("memory_gib > 0", name="memory"),
)

compactions = Table(
    "compactions",
    metadata,
    Column("compacted_at", UtcTime, primary_key=True),
    Column("daily_before", UtcTime, nullable=False, comment="of each day before it, the last observations are kept"),
    Column("weekly_before", UtcTime, nullable=False, comment="of each week before it, the last observations are kept"),
)

refreshes = Table(
    "refreshes",
    metadata,
    Column("feed", Text, primary_key=True, comment="the source of the facts that it brings"),
    Column("region", Text, primary_key=True),
    Column("refreshed_at", UtcTime, nullable=False, comment="its facts of this Region held then, whenever observed"),
)

# The ledger: a cache of the control bucket, rebuilt by sync. Moments are seconds since the epoch, as they are there.

runs = Table(
    "runs",
    metadata,
    Column("name", Text, primary_key=True),
    Column("plan_id", Text, nullable=False),
    Column("bucket", Text, nullable=False),
    Column("region", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("tasks", BigInteger, nullable=False),
    Column("cancelled", Boolean, nullable=False, default=False),
    Column("document", Text, nullable=False, comment="run.json"),
    Column("workload", Text, index=True, comment="the sweep's name: what one run learns, the next one uses"),
    Column("anchored", Boolean, comment="run.json was seen in the bucket"),
    Column("silent", Text, comment="ranges: tasks that a cancel ended before they began"),
    Column("seen", Text, comment="JSON: how far the bucket has been read"),
    Column("measured", Text, comment="JSON: metrics read from its logs afterwards"),
)

submissions = Table(
    "submissions",
    metadata,
    Column("run", ForeignKey(runs.c.name, ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("document", Text, nullable=False, comment="the submission as it lies in the bucket"),
)

arrays = Table(
    "arrays",
    metadata,
    Column("run", ForeignKey(runs.c.name, ondelete="CASCADE"), primary_key=True),
    Column("submission", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("tasks", Text, nullable=False, comment="ranges, in the manifest's order"),
    Column("size", Integer, nullable=False),
    Column("job_id", Text, comment="null until submitted"),
)

results = Table(
    "results",
    metadata,
    Column("run", ForeignKey(runs.c.name, ondelete="CASCADE"), primary_key=True),
    Column("task", BigInteger, primary_key=True),
    Column("etag", Text, nullable=False),
    Column("submission", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("platform", Text, nullable=False),
    Column("region", Text, nullable=False),
    Column("instance_type", Text, nullable=False),
    Column("purchase", Text, nullable=False),
    Column("instances", Integer, nullable=False, comment="of the newest attempt"),
    Column("training", Text, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("billable_s", Double, nullable=False),
    Column("usd", Double, nullable=False),
    Column("reason", Text, nullable=False),
    Column("metrics", Text, nullable=False, comment="JSON"),
    Column("started_at", Double),
    Column("ended_at", Double),
    Column("updated_at", Double, nullable=False),
    Column("document", Text, nullable=False, comment="the result as it lies in the bucket"),
    Column("read_etag", Text, nullable=False, comment="of the document, empty if unread"),
    Column("proven", Integer, nullable=False, comment="newest attempt known to have ended"),
    Index(None, "run", "state", "task"),
)

leases = Table(
    "leases",
    metadata,
    Column("run", ForeignKey(runs.c.name, ondelete="CASCADE"), primary_key=True),
    *(Column(name, Text, primary_key=True) for name in ("platform", "region", "quota")),
    Column("units", Integer, nullable=False, comment="what the run may hold of the quota at once"),
    Column("expires_at", Double, nullable=False),
    CheckConstraint("units >= 0", name="units"),
)
"""Which run may use how much of which quota, among the runs of this database. Unlike the rest of the ledger, it is
nowhere else."""
