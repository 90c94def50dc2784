-- The newest quotas over all instance types of a Region, each for one purchase or, as `*`, for all of them together, and
-- what live runs hold of them. Runs on SQLite and PostgreSQL alike. Rows come in no order.
SELECT
    seen.platform, seen.region, seen.purchase,
    (
        SELECT slots FROM quotas
        WHERE quotas.instance_type = '*' AND quotas.region = seen.region
            AND quotas.purchase = seen.purchase AND quotas.platform = seen.platform
        ORDER BY observed_at DESC LIMIT 1
    ) AS slots,
    (
        SELECT COALESCE(SUM(leases.slots), 0) FROM leases
        WHERE leases.platform = seen.platform AND leases.region = seen.region
            AND (seen.purchase = '*' OR leases.purchase = seen.purchase) AND leases.expires_at > :now
    ) AS held
FROM quotas AS seen
WHERE seen.instance_type = '*'
GROUP BY seen.platform, seen.region, seen.purchase
