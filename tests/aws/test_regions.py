"""A Region is known by its name, and one that is not known yet by its pattern."""

from __future__ import annotations

import boto3
import pytest

from orchestrator.aws.regions import could_be_region


def test_every_region_of_every_partition_could_be_one() -> None:
    session = boto3.session.Session()
    for partition in session.get_available_partitions():
        for service in ("s3", "sagemaker", "batch"):
            regions = session.get_available_regions(service, partition_name=partition)
            assert [region for region in regions if not could_be_region(region)] == []


@pytest.mark.parametrize("name", ["eu-nowhere-7", "mx-central-2", "us-gov-north-1", "cn-south-1", "eusc-de-west-1"])
def test_a_region_that_is_not_known_yet_could_be_one(name: str) -> None:
    assert could_be_region(name)


@pytest.mark.parametrize(
    "name", ["", "nowhere-1", "eu-west", "eu-west-1a", "EU-WEST-1", "eu_west_1", "eu-west-1\n", "us-west-٣"]
)
def test_what_is_no_name_of_a_region_could_be_none(name: str) -> None:
    assert not could_be_region(name)
