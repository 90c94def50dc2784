"""The page that a person sees at the cloud's address, fetched and parsed as a browser would."""

from __future__ import annotations

import urllib.request
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud
    from tests.localcloud.conftest import BatchDesk, TrainingDesk

ALONE = {"meta", "br", "link", "img"}


class Page(HTMLParser):
    """The text of each section, by its id. Every element is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sections: dict[str, str] = {}
        self.outside: list[str] = []
        self._open: list[str] = []
        self._section = ""
        self.feed(text)
        self.close()
        assert self._open == [], "an element is never closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.outside += [value for name in ("src", "href") if (value := given.get(name))]
        if tag == "section":
            self._section = given["id"] or ""
            self.sections[self._section] = ""
        if tag not in ALONE:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._section:
            self.sections[self._section] += f" {data}"


def look(cloud: LocalCloud) -> Page:
    with urllib.request.urlopen(cloud.serving.page, timeout=10) as answer:
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        return Page(answer.read().decode())


def test_it_shows_every_region_and_bucket_and_needs_nothing_else(cloud: LocalCloud) -> None:
    page = look(cloud)
    assert list(page.sections) == ["faults", *cloud.regions, "buckets"]
    assert all(f"sweep-local-{region}" in page.sections["buckets"] for region in cloud.regions)
    assert page.outside == []


def test_it_shows_jobs_and_trainings_where_they_are(
    cloud: LocalCloud, batch: BatchDesk, sagemaker: TrainingDesk
) -> None:
    batch.end(batch.submit('[ "$AWS_BATCH_JOB_ARRAY_INDEX" = 0 ]', arrayProperties={"size": 3}))
    sagemaker.run("pass")
    sections = look(cloud).sections
    assert batch.name in sections["us-east-1"]
    assert "SUCCEEDED 1 · FAILED 2" in " ".join(sections["us-east-1"].split())
    assert sagemaker.name in sections["us-east-1"]
    assert "1 × ml.c5.xlarge" in sections["us-east-1"]
    assert batch.name not in sections["eu-west-1"]


def test_it_shows_the_faults_and_writes_their_words_as_text(cloud: LocalCloud) -> None:
    with cloud.fault("throttle", "s3:PutObject", region="<b>nowhere</b>"):
        assert "<b>nowhere</b>" in look(cloud).sections["faults"]
    assert "None" in look(cloud).sections["faults"]


def test_a_signed_request_to_the_same_address_is_still_for_s3(client: Callable[..., Any]) -> None:
    assert "sweep-local" in {each["Name"] for each in client("s3").list_buckets()["Buckets"]}
