"""A team's own campaign database is read by one query, and nothing is ever written there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import create_engine, text

from orchestrator.aws.session import Clients
from orchestrator.errors import CatalogError
from orchestrator.feeds.feeds import Feeds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.catalog.catalog import Catalog

THEIRS = """
    CREATE TABLE drives (name TEXT, run INTEGER, weather TEXT, size_bytes BIGINT, recorded TIMESTAMP);
    CREATE TABLE copies (drive TEXT, run INTEGER, aws_region TEXT, bucket TEXT);
    INSERT INTO drives VALUES ('alps', 1, 'snow;night', 1000, '2026-02-01 10:00:00');
    INSERT INTO drives VALUES ('alps', 2, 'snow;night', 2000, '2026-03-01 10:00:00');
    INSERT INTO copies VALUES ('alps', 1, 'eu-west-1', 'team-eu'), ('alps', 1, 'us-east-1', 'team-us');
    INSERT INTO copies VALUES ('alps', 2, 'eu-west-1', 'team-eu')
"""
QUERY = """
    SELECT name AS campaign, drives.run AS version, weather AS tags, size_bytes AS bytes, recorded AS created_at,
           aws_region AS region, 's3://' || bucket || '/' || name || '/' || drives.run || '/' AS s3_uri
    FROM drives JOIN copies ON drive = name AND copies.run = drives.run -- 100 %, a :colon and a ?
    ORDER BY name, drives.run, aws_region
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def theirs(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database of drives: it knows nothing of us."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'theirs.db'}"
    else:
        url = request.getfixturevalue("empty_postgresql_url")
    other = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with other.begin() as connection:
        for statement in THEIRS.split(";\n"):
            connection.execute(text(statement))
    other.dispose()
    return url


@pytest.fixture
def take(theirs: str, tmp_path: Path, migrated: Path) -> Callable[[str], Catalog]:
    """Import what a query finds into a catalog of ours, and return it."""
    import shutil

    from tests.catalog.platforms import make_catalog

    shutil.copy(migrated, tmp_path / "ours.db")
    catalog = make_catalog(f"sqlite:///{tmp_path / 'ours.db'}")

    def run(query: str) -> Catalog:
        file = tmp_path / "campaigns.sql"
        file.write_text(query)
        Feeds(catalog, Clients(), "us-east-1").import_campaigns(theirs, file)
        return catalog

    return run


def test_each_row_is_a_replica_of_its_dataset(take: Callable[[str], Catalog]) -> None:
    catalog = take(QUERY)
    (alps,) = catalog.show("campaigns")
    assert alps["tags"] == ["night", "snow"]
    assert [(row["dataset"], row["bytes"]) for row in catalog.show("datasets")] == [("alps@1", 1000), ("alps@2", 2000)]
    assert [(row["dataset"], row["region"], row["s3_uri"]) for row in catalog.show("replicas")] == [
        ("alps@1", "eu-west-1", "s3://team-eu/alps/1/"),
        ("alps@1", "us-east-1", "s3://team-us/alps/1/"),
        ("alps@2", "eu-west-1", "s3://team-eu/alps/2/"),
    ]


@pytest.mark.parametrize(
    ("find", "put", "said"),
    [
        ("size_bytes AS bytes", "NULL AS bytes", "campaigns.sql:1:bytes: is empty"),
        (
            "size_bytes AS bytes",
            "CASE aws_region WHEN 'eu-west-1' THEN 5 END AS bytes",
            "campaigns.sql:2:bytes: is empty",
        ),
        ("size_bytes AS bytes", "'a lot' AS bytes", "campaigns.sql:1:bytes: 'a lot' is not a whole number"),
        ("size_bytes AS bytes", "size_bytes", "unknown column 'size_bytes' (did you mean 'bytes'?)"),
        (", recorded AS created_at", "", "campaigns.sql: the query lacks the column 'created_at'"),
        ("weather AS tags", "aws_region AS tags", "campaigns.sql:2:tags: alps has another tags in row 1"),
        ("weather AS tags", "1 AS bytes", "campaigns.sql: the query has two columns 'bytes'"),
        ("aws_region AS region", "'eu-west-1' AS region", "campaigns.sql:2: the same dataset, region as in line 1"),
        ("aws_region AS region", "'Ireland' AS region", "campaigns.sql:1:region: 'Ireland' is not a Region"),
        ("FROM drives", "FROM rides", "rides"),
        ("ORDER BY", "AND 1 = 0 ORDER BY", "campaigns.sql: the query has no rows"),
    ],
)
def test_what_is_wrong_is_told_with_its_row(take: Callable[[str], Catalog], find: str, put: str, said: str) -> None:
    assert find in QUERY
    query = QUERY.replace("-- 100 %, a :colon and a ?", "").replace(find, put)
    with pytest.raises(CatalogError) as caught:
        take(query)
    assert said in str(caught.value)


def test_nothing_is_written_there(take: Callable[[str], Catalog], theirs: str) -> None:
    with pytest.raises(CatalogError):
        take("DELETE FROM copies")
    other = create_engine(theirs.replace("postgresql://", "postgresql+psycopg://"))
    with other.connect() as connection:
        assert connection.execute(text("SELECT COUNT(*) FROM copies")).scalar() == 3


@pytest.mark.parametrize("url", ["", "theirs", "oracle9://host/db", "postgresql://me:hunter2@127.0.0.1:1/x"])
def test_a_database_that_cannot_be_used_is_told_without_its_password(url: str, tmp_path: Path, empty: Catalog) -> None:
    (tmp_path / "campaigns.sql").write_text(QUERY)
    with pytest.raises(CatalogError) as caught:
        Feeds(empty, Clients(), "us-east-1").import_campaigns(url, tmp_path / "campaigns.sql")
    assert "hunter2" not in str(caught.value)
