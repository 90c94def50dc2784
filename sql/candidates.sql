-- Every dataset × lane that can train it: wanted replicas × lanes × their newest prices and quotas, and what a copy
-- would cost where the data does not lie. Runs on SQLite and PostgreSQL alike. `wanted` is a temporary table of the
-- replicas that a sweep asks for (dataset, region, s3_uri, bytes). Rows come in no order: databases collate differently.
WITH
newest_price AS (
    SELECT platform, region, instance_type, purchase, MAX(observed_at) AS observed_at
    FROM prices
    WHERE instance_type IN :instance_types AND (:any_region = 1 OR region IN :regions)
    GROUP BY platform, region, instance_type, purchase
),
price AS (
    SELECT platform, region, instance_type, purchase, usd_per_hour
    FROM newest_price JOIN prices USING (platform, region, instance_type, purchase, observed_at)
),
newest_quota AS (
    SELECT platform, region, instance_type, purchase, MAX(observed_at) AS observed_at
    FROM quotas
    WHERE instance_type IN :instance_types
    GROUP BY platform, region, instance_type, purchase
),
quota AS (
    SELECT platform, region, instance_type, purchase, slots
    FROM newest_quota JOIN quotas USING (platform, region, instance_type, purchase, observed_at)
),
lane AS (
    SELECT
        price.platform, price.region, price.instance_type, price.purchase, price.usd_per_hour, quota.slots,
        on_demand.usd_per_hour AS on_demand_usd_per_hour
    FROM price
    LEFT JOIN price AS on_demand
        ON on_demand.platform = price.platform
        AND on_demand.region = price.region
        AND on_demand.instance_type = price.instance_type
        AND on_demand.purchase = 'on_demand'
    LEFT JOIN quota
        ON quota.platform = price.platform
        AND quota.region = price.region
        AND quota.instance_type = price.instance_type
        AND quota.purchase = price.purchase
    WHERE price.purchase IN :purchases
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
    lane.usd_per_hour, lane.on_demand_usd_per_hour, lane.slots, source.from_region, source.transfer_usd_per_gb
FROM source
JOIN lane ON lane.region = source.region
WHERE source.place = 1
