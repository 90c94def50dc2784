"""Run in SkyPilot's environment: CPU seconds that its optimizer takes for a chain of so many tasks."""

from __future__ import annotations

import json
import sys
import time

import sky
from sky import check, clouds, optimizer
from sky.catalog import aws_catalog


def chain(count: int) -> sky.Dag:
    with sky.Dag() as dag:
        before = None
        for number in range(count):
            task = sky.Task(name=f"task-{number}", run="true")
            task.set_resources(sky.Resources(accelerators="V100:1", use_spot=True))
            task.set_time_estimator(lambda _: 3600)
            if before is not None:
                before >> task
            before = task
    return dag


def main(count: int) -> None:
    aws = [clouds.AWS()]
    # As if credentials had been found, and zones were named as in the table.
    check.get_cached_enabled_clouds_or_refresh = lambda *_, **__: aws
    aws_catalog._fetch_and_apply_az_mapping = lambda table: table
    dag = chain(count)
    start = time.process_time()
    optimizer.Optimizer.optimize(dag, quiet=True)
    print(json.dumps({"cpu_s": time.process_time() - start}))


main(int(sys.argv[1]))
