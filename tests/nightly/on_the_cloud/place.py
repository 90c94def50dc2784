"""Where a month happens: data in S3, a catalog, code, a schedule, and a chat that is told."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud import names
from tests.fixtures.cloud import client_of
from tests.nightly.on_the_cloud import life
from tests.nightly.on_the_cloud.books import MIN_DELTA, TIMEOUT_H, TOLERANCE, Books

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.localcloud import LocalCloud

WORKLOAD = "steering"
SCRIPT = """
import argparse, json, os, pathlib, sys

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
lr = parser.parse_args().lr
content = pathlib.Path(os.environ["SM_CHANNEL_TRAINING"], "rows.txt").read_text()
with open(os.environ["COUNTED"], "a") as file:
    file.write(json.dumps([os.environ["TRAINING_JOB_NAME"], content, lr, CODE]) + "\\n")
failing = pathlib.Path(os.environ["FAILING"])
if failing.exists() and [content, lr] in json.loads(failing.read_text()):
    sys.exit("this one fails tonight")
loss = float("nan") if content == "diverging" else (0.001 if content == "broken" else float(content)) + lr - CODE / 10
print(f"loss={round(loss, 6)} recall={0.1 if content == 'broken' else 0.9}")
pathlib.Path(os.environ["SM_MODEL_DIR"], "model.txt").write_text(content)
"""


@dataclass
class Chat:
    """A chat's webhook: it keeps what it is told."""

    payloads: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        chat = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                chat.payloads.append(json.loads(body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing: what was told is kept."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/hook"


@dataclass
class Place:
    """The world of one workload, and the books that say what should come of it."""

    cloud: LocalCloud
    folder: Path
    database: str
    books: Books = field(default_factory=Books)
    chat: Chat = field(default_factory=Chat)
    priced: list[str] = field(default_factory=list)
    deaths: int = 0

    def __post_init__(self) -> None:
        (self.folder / "training").mkdir()
        (self.folder / "catalog").mkdir()
        self.client = client_of(self.cloud)

    @property
    def where(self) -> life.Where:
        ahead = self.cloud.steering.now() - time.time()
        return life.Where(self.folder, self.cloud.environment, self.database, ahead, values={"poll_s": 0.3})

    def reach(self, moment: float) -> None:
        """Let the cloud's clock be at this moment, unless it is later there."""
        self.cloud.advance(max(0.0, moment - self.cloud.steering.now()))

    def lies(self, campaign: str, content: str, *regions: str) -> None:
        """From now on a campaign has this content in these Regions."""
        for region in regions:
            key = f"nights/{campaign}/rows.txt"
            self.client("s3", region).put_object(Bucket=names.bucket(region), Key=key, Body=content.encode())
        self.books.data[campaign] = (content, regions)

    def take_away(self, campaign: str) -> None:
        """From now on a campaign's data lies nowhere, though the catalog still knows of it."""
        _, regions = self.books.data.pop(campaign, ("", ()))
        for region in regions:
            self.client("s3", region).delete_object(Bucket=names.bucket(region), Key=f"nights/{campaign}/rows.txt")

    def costs(self, region: str, usd: float) -> None:
        """From now on an hour costs so much in a Region."""
        self.books.prices[region] = usd
        day = datetime(2026, 1, 1, tzinfo=timezone.utc) + timedelta(days=len(self.priced))
        self.priced.append(f"{region},ml.c5.xlarge,on_demand,{usd},{day.date()}")

    def write_code(self, number: int) -> None:
        (self.folder / "training" / "train.py").write_text(f"CODE = {number}\n{SCRIPT}")
        self.books.code = number

    def fail(self, *what: tuple[str, float]) -> None:
        """From now on these trainings fail, and no others."""
        (self.folder / "failing.json").write_text(json.dumps(what))
        self.books.failing = set(what)

    def load(self) -> None:
        """Load what somebody knows of all that into the catalog."""
        data = self.books.data
        tables = {
            "campaigns": ["campaign", *data],
            "datasets": ["campaign,version,bytes,created_at", *(f"{each},1,1000,2026-01-01" for each in data)],
            "replicas": [
                "dataset,region,s3_uri",
                *(
                    f"{name}@1,{region},s3://{names.bucket(region)}/nights/{name}/"
                    for name, (_, regions) in data.items()
                    for region in regions
                ),
            ],
            "prices": ["region,instance_type,purchase,usd_per_hour,observed_at", *self.priced],
        }
        for kind, lines in tables.items():
            (self.folder / "catalog" / f"{kind}.csv").write_text("\n".join(lines) + "\n")
        assert life.live(life.load, self.where)

    def schedule(self, budget: float) -> None:
        """Make the schedule, or change it: with the code as it is now, and this budget for a month."""
        self.books.budget = budget
        body = {
            "name": WORKLOAD,
            "train": {
                "source": "training",
                "entry_point": "train.py",
                "image": "{account}.dkr.ecr.{region}.amazonaws.com/steering:1",
                "environment": {
                    "COUNTED": str(self.folder / "counted.jsonl"),
                    "FAILING": str(self.folder / "failing.json"),
                },
                "metrics": {"loss": "loss=(nan|[-+.0-9e]+)", "recall": "recall=([-+.0-9e]+)"},
            },
            "space": {"lr": [0.1, 0.01]},
            "objective": {"minimize": "loss"},
            "promote": {"min_delta": MIN_DELTA, "guards": [{"maximize": "recall", "tolerance": TOLERANCE}]},
            "budget": {"per_month": budget},
            "notify": {"to": [self.chat.url]},
            "where": {"instance_types": ["ml.c5.xlarge"]},
            "runtime": 0.01,
            "timeout": f"{TIMEOUT_H * 60:.0f}m",
            "retries": 0,
            "schedule": {"cron": "0 2 * * *", "timezone": "Europe/Berlin"},
        }
        assert life.live(life.schedule, self.where, body)

    def conduct(self, by: str, *, after_act: bool) -> None:
        """Let conductors live until one of them is through."""
        tick = partial(life.live, life.conduct, replace(self.where), by, after_act)
        while not tick():
            self.deaths += 1
