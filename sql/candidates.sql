-- Every dataset × lane that can train it: wanted replicas × the lanes on offer, with their newest prices and
-- interruption rates × each source that a copy can come from, with its price, where the data does not lie. Runs on SQLite and PostgreSQL alike. Two
-- temporary tables say what the sweep, the platforms and the clock say: `wanted`, the replicas that it asks for
-- (dataset, region, s3_uri, bytes); and `offered`, the lanes that it may buy (a lane, its site, opens_h, closes_h), each
-- with the lane that stands in for it where facts of a spot lane are missing (proxy_platform, proxy_region,
-- proxy_instance_type). Facts that were observed later than `until` are not believed: a clock was wrong. Rows come in no
-- order: databases collate differently.
WITH
-- Each lane's facts are looked up once, by primary key, whatever a planner knows about the tables. Distinct, though no
-- two are alike: else SQLite would look each lane's facts up once a dataset.
fact AS (
    SELECT DISTINCT
        offered.*,
        (
            SELECT usd_per_hour FROM prices
            WHERE prices.instance_type = offered.instance_type AND prices.region = offered.region
                AND prices.purchase = offered.purchase AND prices.platform = offered.platform
                AND observed_at <= :until
            ORDER BY observed_at DESC LIMIT 1
        ) AS own_usd_per_hour,
        NULLIF((
            SELECT usd_per_hour FROM prices
            WHERE prices.instance_type = offered.instance_type AND prices.region = offered.region
                AND prices.purchase = 'on_demand' AND prices.platform = offered.platform
                AND observed_at <= :until
            ORDER BY observed_at DESC LIMIT 1
        ), 0) AS on_demand_usd_per_hour,
        (
            SELECT usd_per_hour FROM prices
            WHERE prices.instance_type = proxy_instance_type AND prices.region = proxy_region
                AND prices.purchase = 'spot' AND prices.platform = proxy_platform
                AND observed_at <= :until
            ORDER BY observed_at DESC LIMIT 1
        ) AS proxy_spot_usd_per_hour,
        NULLIF((
            SELECT usd_per_hour FROM prices
            WHERE prices.instance_type = proxy_instance_type AND prices.region = proxy_region
                AND prices.purchase = 'on_demand' AND prices.platform = proxy_platform
                AND observed_at <= :until
            ORDER BY observed_at DESC LIMIT 1
        ), 0) AS proxy_on_demand_usd_per_hour,
        CASE WHEN offered.purchase = 'spot' THEN COALESCE(
            (
                SELECT per_hour FROM interruptions
                WHERE interruptions.instance_type = offered.instance_type AND interruptions.region = offered.region
                    AND interruptions.platform = offered.platform
                    AND observed_at <= :until
                ORDER BY observed_at DESC LIMIT 1
            ),
            (
                SELECT per_hour FROM interruptions
                WHERE interruptions.instance_type = proxy_instance_type AND interruptions.region = proxy_region
                    AND interruptions.platform = proxy_platform
                    AND observed_at <= :until
                ORDER BY observed_at DESC LIMIT 1
            )
        ) END AS interruptions_per_hour
    FROM offered
),
-- A spot lane without a price of its own is as much cheaper than on demand as its proxy is. A price of 0 is one that
-- somebody did not know.
lane AS (
    SELECT
        fact.*,
        CASE
            WHEN purchase = 'committed' THEN 0
            WHEN own_usd_per_hour IS NOT NULL THEN own_usd_per_hour
            ELSE on_demand_usd_per_hour * proxy_spot_usd_per_hour / proxy_on_demand_usd_per_hour
        END AS usd_per_hour
    FROM fact
),
-- The tier of transfer prices that a dataset of this size reaches.
tier AS (
    SELECT wanted.dataset, from_region, to_region, MAX(from_gb) AS from_gb
    FROM wanted JOIN transfer_prices ON from_region = wanted.region
    WHERE :may_move = 1 AND from_gb * 1000000000 <= wanted.bytes
    GROUP BY wanted.dataset, from_region, to_region
),
-- Where a dataset may be trained: where it lies, or wherever any of its replicas can be copied to. Which source is best,
-- and which is quickest, only the planner can tell: that depends on all tiers that a replica's bytes go through.
source AS (
    SELECT
        dataset, region, s3_uri, bytes,
        CAST(NULL AS TEXT) AS from_region, CAST(NULL AS DOUBLE PRECISION) AS transfer_usd_per_gb
    FROM wanted
    UNION ALL
    SELECT dataset, to_region, s3_uri, bytes, from_region, usd_per_gb
    FROM tier
    JOIN transfer_prices USING (from_region, to_region, from_gb)
    JOIN wanted USING (dataset)
    WHERE wanted.region = from_region
        AND NOT EXISTS (SELECT 1 FROM wanted AS here WHERE here.dataset = tier.dataset AND here.region = to_region)
)
SELECT
    source.dataset, lane.platform, lane.region, lane.instance_type, lane.purchase, source.s3_uri, source.bytes,
    lane.usd_per_hour, lane.on_demand_usd_per_hour, lane.interruptions_per_hour, lane.opens_h, lane.closes_h,
    NULLIF(lane.site, '') AS site, source.from_region, source.transfer_usd_per_gb
FROM source
JOIN lane ON lane.region = source.region
WHERE lane.usd_per_hour > 0 OR lane.purchase = 'committed'
