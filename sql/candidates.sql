-- Every dataset × lane that can train it: wanted replicas × lanes with their newest prices, quotas and interruption
-- rates, and what live runs hold of them × the price of a copy, where the data does not lie. Runs on SQLite and
-- PostgreSQL alike. Two temporary tables say what the sweep and the clock say: `wanted`, the replicas it asks for
-- (dataset, region, number, s3_uri, bytes), their Regions numbered by name; and `committed`, the training plans that
-- are not over (a lane, slots, opens_h, closes_h, arn). Rows come in no order: databases collate differently.
WITH
-- What has a price: grouped, so that each lane's facts are looked up once, by primary key, whatever a planner knows
-- about the tables. Neither EC2 nor local zones (their names go on after a digit, us-west-2-lax-1): nothing is trained
-- there.
priced AS (
    SELECT
        seen.platform, seen.region, seen.instance_type, seen.purchase,
        (
            SELECT usd_per_hour FROM prices
            WHERE prices.instance_type = seen.instance_type AND prices.region = seen.region
                AND prices.purchase = seen.purchase AND prices.platform = seen.platform
            ORDER BY observed_at DESC LIMIT 1
        ) AS usd_per_hour
    FROM prices AS seen
    WHERE seen.instance_type IN :instance_types
        AND seen.purchase IN ('on_demand', 'spot')
        AND (:any_region = 1 OR seen.region IN :regions)
        AND seen.platform <> 'ec2'
        AND seen.region NOT LIKE '%-_-%'
    GROUP BY seen.platform, seen.region, seen.instance_type, seen.purchase
),
sold AS (
    SELECT
        platform, region, instance_type, purchase, usd_per_hour,
        CAST(NULL AS INTEGER) AS slots, 0 AS opens_h, CAST(NULL AS INTEGER) AS closes_h, '' AS arn
    FROM priced
    WHERE usd_per_hour > 0 -- 0 is a price that somebody did not know
    UNION ALL
    -- Managed spot has no published price. Where the catalog has none either, it is as much cheaper as on EC2.
    SELECT
        platform, region, instance_type, 'spot',
        usd_per_hour
        * (
            SELECT usd_per_hour FROM prices
            WHERE prices.instance_type = SUBSTR(priced.instance_type, 4) AND prices.region = priced.region
                AND prices.purchase = 'spot' AND prices.platform = 'ec2'
            ORDER BY observed_at DESC LIMIT 1
        )
        / NULLIF((
            SELECT usd_per_hour FROM prices
            WHERE prices.instance_type = SUBSTR(priced.instance_type, 4) AND prices.region = priced.region
                AND prices.purchase = 'on_demand' AND prices.platform = 'ec2'
            ORDER BY observed_at DESC LIMIT 1
        ), 0),
        NULL, 0, NULL, ''
    FROM priced
    WHERE platform = 'sagemaker' AND purchase = 'on_demand' AND instance_type LIKE 'ml.%' AND NOT EXISTS (
        SELECT 1 FROM prices
        WHERE prices.instance_type = priced.instance_type AND prices.region = priced.region
            AND prices.purchase = 'spot' AND prices.platform = priced.platform
    )
    UNION ALL
    SELECT platform, region, instance_type, 'committed', 0, slots, opens_h, closes_h, arn
    FROM committed
),
-- Distinct, though no two are alike: else SQLite would look each lane's facts up once a dataset.
lane AS (
    SELECT DISTINCT
        sold.*,
        COALESCE(sold.slots, (
            SELECT slots FROM quotas
            WHERE quotas.instance_type = sold.instance_type AND quotas.region = sold.region
                AND quotas.purchase = sold.purchase AND quotas.platform = sold.platform
            ORDER BY observed_at DESC LIMIT 1
        )) AS quota,
        (
            SELECT COALESCE(SUM(leases.slots), 0) FROM leases
            WHERE leases.instance_type = sold.instance_type AND leases.region = sold.region
                AND leases.purchase = sold.purchase AND leases.platform = sold.platform
                AND leases.arn = sold.arn AND leases.expires_at > :now
        ) AS held,
        NULLIF((
            SELECT usd_per_hour FROM prices
            WHERE prices.instance_type = sold.instance_type AND prices.region = sold.region
                AND prices.purchase = 'on_demand' AND prices.platform = sold.platform
            ORDER BY observed_at DESC LIMIT 1
        ), 0) AS on_demand_usd_per_hour,
        CASE WHEN sold.purchase = 'spot' THEN COALESCE(
            (
                SELECT per_hour FROM interruptions
                WHERE interruptions.instance_type = sold.instance_type AND interruptions.region = sold.region
                    AND interruptions.platform = sold.platform
                ORDER BY observed_at DESC LIMIT 1
            ),
            (
                SELECT per_hour FROM interruptions
                WHERE sold.platform = 'sagemaker' AND interruptions.platform = 'ec2'
                    AND interruptions.instance_type = SUBSTR(sold.instance_type, 4)
                    AND interruptions.region = sold.region
                ORDER BY observed_at DESC LIMIT 1
            )
        ) END AS interruptions_per_hour
    FROM sold
    WHERE sold.purchase IN :purchases AND (sold.usd_per_hour > 0 OR sold.purchase = 'committed')
),
-- The tier of transfer prices that a dataset of this size reaches.
tier AS (
    SELECT wanted.dataset, from_region, to_region, MAX(from_gb) AS from_gb
    FROM wanted JOIN transfer_prices ON from_region = wanted.region
    WHERE :may_move = 1 AND from_gb * 1000000000 <= wanted.bytes
    GROUP BY wanted.dataset, from_region, to_region
),
-- Where a dataset may be trained: where it lies, or where its cheapest source, of equals the first, can be copied to.
source AS (
    SELECT
        dataset, region, s3_uri, bytes,
        CAST(NULL AS TEXT) AS from_region, CAST(NULL AS DOUBLE PRECISION) AS transfer_usd_per_gb, 1 AS place
    FROM wanted
    UNION ALL
    SELECT
        dataset, to_region, s3_uri, bytes, from_region, usd_per_gb,
        ROW_NUMBER() OVER (PARTITION BY dataset, to_region ORDER BY usd_per_gb, wanted.number) AS place
    FROM tier
    JOIN transfer_prices USING (from_region, to_region, from_gb)
    JOIN wanted USING (dataset)
    WHERE wanted.region = from_region
        AND NOT EXISTS (SELECT 1 FROM wanted AS here WHERE here.dataset = tier.dataset AND here.region = to_region)
)
SELECT
    source.dataset, lane.platform, lane.region, lane.instance_type, lane.purchase, source.s3_uri, source.bytes,
    lane.usd_per_hour, lane.on_demand_usd_per_hour, lane.quota AS slots, lane.held, lane.interruptions_per_hour,
    lane.opens_h, lane.closes_h, NULLIF(lane.arn, '') AS arn, source.from_region, source.transfer_usd_per_gb
FROM source
JOIN lane ON lane.region = source.region
WHERE source.place = 1
