"""A way to steer this cloud, which AWS has not: requests under /_local/ of its own address. JSON in, JSON out.

POST   clock          {"advance": SECONDS}
GET    overview       what the page shows
GET    permissions    what was asked of IAM, by whom, on what; nothing where nobody is held to policies
GET    faults
POST   faults         the fields of a `faults.Fault`
DELETE faults/NUMBER  take one back; without a number, all

`steering.py` is its client.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.faults.faults import Fault
from orchestrator.localcloud.http import answers, page
from orchestrator.localcloud.http.answers import Answer, AwsError

if TYPE_CHECKING:
    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.faults.cloud_faults import CloudFaults
    from orchestrator.localcloud.faults.faults import Faults
    from orchestrator.localcloud.http.overview import Overview
    from orchestrator.localcloud.iam.authority import Authority

PREFIX = "/_local/"
_PAGE_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""No script runs on the page, nobody frames it, and its address is told to nobody."""


@dataclass(frozen=True)
class LocalApi:
    """Answers requests under /_local/, and shows the page."""

    clock: Clock
    faults: Faults
    cloud_faults: CloudFaults
    overview: Overview
    authority: Authority | None = None

    def page(self) -> Answer:
        """Return the page that a person sees."""
        return Answer(200, page.render(self.overview.facts()).encode(), _PAGE_HEADERS)

    def answer(self, environ: dict[str, Any]) -> Answer:
        """Do what a request under /_local/ asks, and return its answer; an error for what makes no sense."""
        action, _, rest = environ["PATH_INFO"].removeprefix(PREFIX).partition("/")
        try:
            body = json.loads(environ["wsgi.input"].getvalue() or b"{}")
            return answers.document(self._do(f"{environ['REQUEST_METHOD']} {action}", rest, body))
        except AwsError as problem:
            return answers.error("local", problem)
        except (KeyError, TypeError, ValueError) as error:
            return answers.error("local", AwsError("LocalCloudError", str(error)))

    def _do(self, action: str, rest: str, body: dict[str, Any]) -> dict[str, Any]:
        if action == "POST clock":
            self.clock.advance(body["advance"])
            return {"now": self.clock.now()}
        if action == "GET overview":
            return self.overview.facts()
        if action == "GET permissions":
            return {"asked": self.authority.asked() if self.authority else []}
        if action == "GET faults":
            return {"faults": [each.describe() for each in self.faults.active()]}
        if action == "POST faults":
            return self.cloud_faults.add(Fault.read(body)).describe()
        if action == "DELETE faults":
            numbers = [int(rest)] if rest else [each.number for each in self.faults.active()]
            for number in numbers:
                self.faults.remove(number)
            return {}
        raise AwsError("LocalCloudError", f"nothing at {action.replace(' ', ' ' + PREFIX)}", 404)
