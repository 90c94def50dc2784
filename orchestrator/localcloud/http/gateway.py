"""Finds who answers a request: a service of ours, or moto. Nobody answers 500 for what is merely not there."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from botocore import xform_name

from orchestrator.localcloud import local_api
from orchestrator.localcloud.http import answers, signature
from orchestrator.localcloud.http.answers import Answer, AwsError
from orchestrator.localcloud.http.call import Call
from orchestrator.localcloud.services import base_image, iam, s3
from orchestrator.localcloud.services.cloudformation.caller import act_for
from orchestrator.localcloud.services.ec2 import images
from orchestrator.localcloud.services.market import spot_advisor
from orchestrator.localcloud.services.moto.ec2 import Ec2Store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.localcloud.faults.call_faults import CallFaults
    from orchestrator.localcloud.http.guard import Guard
    from orchestrator.localcloud.http.rates import Rates
    from orchestrator.localcloud.iam.authority import Authority
    from orchestrator.localcloud.iam.web_identities import WebIdentities
    from orchestrator.localcloud.local_api import LocalApi
    from orchestrator.localcloud.services.ecr import Registry
    from orchestrator.localcloud.services.logs import Logs
    from orchestrator.localcloud.services.moto.backends import Objects
    from orchestrator.localcloud.services.schedules.schedules import Schedules

log = logging.getLogger(__name__)

_TRAINING_ARN = ":training-job/"
_JSON = "application/json"
_AMZ_JSON = "application/x-amz-json-1.1"
_REST = ("batch", "eks", "savingsplans", "scheduler")
"""Services of ours whose documents are plain JSON."""
_WHOLLY_OURS = ("batch", "cloudformation", "eks", "pricing", "savingsplans", "servicequotas")
"""Services that moto is not asked about: what ours do not support, nobody does."""
_ALWAYS_THE_SAME = ("DescribeInstanceTypes",)
"""What moto answers to these depends on nothing but the request, and takes it seconds."""


@dataclass(frozen=True)
class Gateway:
    """The one function that answers every request."""

    guard: Guard
    services: Mapping[str, Mapping[str, Any]]
    """Our own services, by name and Region; an operation is a method of the same name as boto3's."""
    moto: Any
    logs: Logs
    objects: Objects
    schedules: Schedules
    registry: Registry
    local_api: LocalApi
    call_faults: CallFaults
    rates: Rates
    web_identities: WebIdentities
    authority: Authority | None = None
    """What holds callers to their policies; None for a cloud in which everybody may do everything."""
    _answered: dict[bytes, Answer] = field(default_factory=dict)
    """Answers that are always the same, by what was asked."""

    def __call__(self, environ: dict[str, Any]) -> Answer:
        """Return the answer to a request, which WSGI describes."""
        try:
            self.guard.refuse_strangers(environ)
            if environ["PATH_INFO"].startswith(local_api.PREFIX):
                self.guard.check_steering(environ)
                return self.local_api.answer(environ)
            if self.guard.wants_page(environ):
                return self.local_api.page()
            if environ["PATH_INFO"].startswith((base_image.PREFIX, base_image.TOKENS)):
                return base_image.answer(environ, self.guard.endpoint)
            if environ["PATH_INFO"] == spot_advisor.PATH and "HTTP_AUTHORIZATION" not in environ:
                return answers.document(spot_advisor.document())
        except AwsError as problem:
            return answers.error("local", problem)
        body = environ["wsgi.input"].getvalue()
        if self.web_identities.asks(environ, body):
            return self.web_identities.answer(body)
        try:
            scope = self.guard.scope(environ, body)
        except AwsError as problem:
            return answers.error(signature.claimed_service(environ), problem)
        return self.call_faults.answer(Call.of(environ, body, scope), self._safely)

    def _safely(self, call: Call) -> Answer:
        """Answer, and turn whatever is raised into an error that AWS's SDKs read."""
        try:
            return self._answer(call)
        except AwsError as problem:
            return answers.error(call.service, problem)
        except NotImplementedError:
            return answers.error(call.service, _unsupported(call))
        except Exception as error:
            log.exception("%s %s broke", call.service, call.operation)
            return answers.error(
                call.service, AwsError("LocalCloudError", f"{call.service} {call.operation}: {error!r}")
            )

    def _answer(self, call: Call) -> Answer:
        """Have our own service answer, or moto where there is none."""
        self.rates.check(call)
        if call.service == "s3" and call.region:
            s3.check_region(self.objects, call.environ["PATH_INFO"], call.operation, call.region)
        if self.authority:
            self._check_rights(self.authority, call)
            if call.service == "cloudformation":
                token = call.environ.get("HTTP_X_AMZ_SECURITY_TOKEN", "")
                act_for(self.guard.access(call.key_id, token))
        if call.service in self.services:
            document = call.document()
            method = self._method(call, document)
            if method and call.service == "ec2":
                return answers.query(call.operation, method(document) or {})
            if method and call.service == "cloudformation":
                return answers.members(call.operation, method(document) or {})
            if method:
                return answers.document(method(document), _JSON if call.service in _REST else _AMZ_JSON)
        if call.service == "ecr":
            if granted := self.registry.assume_images(call.operation, call.document()):
                return answers.document(granted, _AMZ_JSON)
            call = self.registry.checked(call)
        if call.service == "iam" and call.operation in iam.SIMULATE:
            return answers.members(call.operation, iam.simulate(call, self.authority))
        if call.service == "logs":
            self.logs.refresh()
        if images.PREFIX.encode() in call.body or call.operation == "DescribeImages":
            images.add_deep_learning_images(Ec2Store(call.region), call.region)
        if call.service == "scheduler":
            return self._schedule(call)
        if call.operation not in _ALWAYS_THE_SAME:
            return self._from_moto(call)
        if call.body not in self._answered:
            self._answered[call.body] = self._from_moto(call)
        return self._answered[call.body]

    def _check_rights(self, authority: Authority, call: Call) -> None:
        try:
            authority.check(call)
        except AwsError as refusal:
            if call.service == "s3":
                refusal.headers = s3.tell_region(self.objects, call.environ["PATH_INFO"])
            raise

    def _schedule(self, call: Call) -> Answer:
        if call.operation in ("CreateSchedule", "UpdateSchedule"):
            self.schedules.check(call.document())
        answer = self._from_moto(call)
        self.schedules.refresh(call.region)
        return answer

    def _method(self, call: Call, document: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any] | None] | None:
        """Return our method for an operation; None when moto is to answer. Raise AwsError when nobody can."""
        regions = self.services[call.service]
        if call.service == "ec2" and call.region not in regions:
            return None
        if call.region not in regions:
            known = ", ".join(regions)
            raise AwsError("LocalCloudError", f"the local cloud has no Region {call.region}; it has {known}")
        of_tags = call.operation in ("ListTags", "AddTags", "DeleteTags")
        if of_tags and _TRAINING_ARN not in document.get("ResourceArn", ""):
            return None
        method: Callable[[dict[str, Any]], dict[str, Any] | None] | None = getattr(
            regions[call.region], xform_name(call.operation), None
        )
        if method is None and call.service in _WHOLLY_OURS:
            raise _unsupported(call)
        return method

    def _from_moto(self, call: Call) -> Answer:
        head: list[Any] = []
        parts = self.moto(call.environ, lambda status, headers, _=None: head.extend((status, headers)))
        try:
            body = b"".join(parts)
        finally:
            if hasattr(parts, "close"):
                parts.close()
        status, headers = int(head[0].split()[0]), dict(head[1])
        if status == 404 and call.service != "s3" and headers.get("Content-Type", "").startswith("text/html"):
            raise _unsupported(call)
        if status >= 500:
            raise AwsError("LocalCloudError", f"moto cannot answer {call.service} {call.operation}: {_text(body)}")
        return Answer(status, body, headers)


def _text(body: bytes) -> str:
    """Return the beginning of an answer, without its markup."""
    return " ".join(re.sub(r"<[^>]*>", " ", body.decode("utf-8", "replace")).split())[:300]


def _unsupported(call: Call) -> AwsError:
    return AwsError("UnsupportedOperation", f"the local cloud does not support {call.service} {call.operation}")
