"""Reads the news of a run: names that tell how its tasks stand. Nothing is read but listings."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.runs.written.submission import state_now
from orchestrator.wire.beside.news import News, moment_name

if TYPE_CHECKING:
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission

OVERLAP_MS = 3_000
"""Milliseconds of news that are listed again: a name is written a moment after the result that it tells of."""
LOOK_BACK_MS = 180_000
LOOK_BACK_EVERY_S = 60.0
"""Seconds after which so many milliseconds of news are listed again: a writer may have been held up before its name."""


def read_news(anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud) -> int:
    """Note what has changed since the last look. Return of how many tasks there was anything new."""
    progress, now = ledger.progress(anchor.name), time.time()
    look_back = now - progress.looked_back_at >= LOOK_BACK_EVERY_S
    since = progress.news_to - (LOOK_BACK_MS if look_back else OVERLAP_MS)
    prefix, newest, told = anchor.keys.news, progress.news_to, dict[int, News]()
    for item in cloud.s3.list(prefix, after=prefix + moment_name(since) if since > 0 else ""):
        news = News.read(item.key.removeprefix(prefix))
        if news is None:
            continue  # of another version: whoever compares all results will see what it means
        newest = max(newest, news.moment)
        before = told.get(news.task)
        if before is None or before.order <= news.order:
            told[news.task] = news
    changed = ledger.tell(anchor.name, told, lambda news: state_now(made, news))
    if look_back or newest != progress.news_to:
        looked_back_at = now if look_back else progress.looked_back_at
        progress = replace(ledger.progress(anchor.name), news_to=newest, looked_back_at=looked_back_at)
        ledger.save_progress(anchor.name, progress)
    return changed
