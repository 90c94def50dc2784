-- Every dataset × lane that can train it: wanted replicas × lanes with their newest prices and quotas × the price of a
-- copy, where the data does not lie. Runs on SQLite and PostgreSQL alike. `wanted` is a temporary table of the replicas
-- that a sweep asks for (dataset, region, s3_uri, bytes). Rows come in no order: databases collate differently.
WITH
-- Grouped, so that each lane's facts are looked up once, by primary key, whatever a planner knows about the tables.
lane AS (
    SELECT
        seen.platform, seen.region, seen.instance_type, seen.purchase,
        (
            SELECT usd_per_hour FROM prices
            WHERE prices.instance_type = seen.instance_type AND prices.region = seen.region
                AND prices.purchase = seen.purchase AND prices.platform = seen.platform
            ORDER BY observed_at DESC LIMIT 1
        ) AS usd_per_hour,
        (
            SELECT usd_per_hour FROM prices
            WHERE prices.instance_type = seen.instance_type AND prices.region = seen.region
                AND prices.purchase = 'on_demand' AND prices.platform = seen.platform
            ORDER BY observed_at DESC LIMIT 1
        ) AS on_demand_usd_per_hour,
        (
            SELECT slots FROM quotas
            WHERE quotas.instance_type = seen.instance_type AND quotas.region = seen.region
                AND quotas.purchase = seen.purchase AND quotas.platform = seen.platform
            ORDER BY observed_at DESC LIMIT 1
        ) AS slots
    FROM prices AS seen
    WHERE seen.instance_type IN :instance_types
        AND seen.purchase IN :purchases
        AND (:any_region = 1 OR seen.region IN :regions)
    GROUP BY seen.platform, seen.region, seen.instance_type, seen.purchase
),
-- The tier of transfer prices that a dataset of this size reaches.
tier AS (
    SELECT wanted.dataset, from_region, to_region, MAX(from_gb) AS from_gb
    FROM wanted JOIN transfer_prices ON from_region = wanted.region
    WHERE :may_move = 1 AND from_gb * 1000000000 <= wanted.bytes
    GROUP BY wanted.dataset, from_region, to_region
),
-- Where a dataset may be trained: where it lies, or where its cheapest source can be copied to (ties: several rows).
source AS (
    SELECT
        dataset, region, s3_uri, bytes,
        CAST(NULL AS TEXT) AS from_region, CAST(NULL AS DOUBLE PRECISION) AS transfer_usd_per_gb, 1 AS place
    FROM wanted
    UNION ALL
    SELECT
        dataset, to_region, s3_uri, bytes, from_region, usd_per_gb,
        RANK() OVER (PARTITION BY dataset, to_region ORDER BY usd_per_gb) AS place
    FROM tier
    JOIN transfer_prices USING (from_region, to_region, from_gb)
    JOIN wanted USING (dataset)
    WHERE wanted.region = from_region
        AND NOT EXISTS (SELECT 1 FROM wanted AS here WHERE here.dataset = tier.dataset AND here.region = to_region)
)
SELECT
    source.dataset, lane.platform, lane.region, lane.instance_type, lane.purchase, source.s3_uri, source.bytes,
    lane.usd_per_hour, lane.on_demand_usd_per_hour, lane.slots,
    0 AS held, CAST(NULL AS DOUBLE PRECISION) AS interruptions_per_hour,
    0 AS opens_h, CAST(NULL AS DOUBLE PRECISION) AS closes_h, CAST(NULL AS TEXT) AS arn,
    source.from_region, source.transfer_usd_per_gb
FROM source
JOIN lane ON lane.region = source.region
WHERE source.place = 1
