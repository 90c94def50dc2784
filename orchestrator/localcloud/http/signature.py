"""AWS's signatures: version 4 in a header or a URL, and S3's older one, which boto3 still puts into presigned URLs.

A signature says which service and Region a request is for. Nothing else of a request is trusted with that.
"""

from __future__ import annotations

import hmac
import re
import time
from base64 import b64encode
from calendar import timegm
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from posixpath import normpath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from botocore.auth import HmacV1Auth

from orchestrator.localcloud.http.answers import AwsError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ALGORITHM = "AWS4-HMAC-SHA256"
_HEADER = re.compile(
    rf"{_ALGORITHM} +Credential=(?P<id>[^/,]+)/(?P<day>\d{{8}})/(?P<region>[\w-]+)/(?P<service>[\w.-]+)/aws4_request, *"
    r"SignedHeaders=(?P<headers>[^,]+), *Signature=(?P<signature>[0-9a-f]{64})"
)
_CREDENTIAL = re.compile(r"(?P<id>[^/]+)/(?P<day>\d{8})/(?P<region>[\w-]+)/(?P<service>[\w.-]+)/aws4_request")
_SHA256 = re.compile("[0-9a-f]{64}")
_UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD"
_SKEW_S = 15 * 60
"""The most seconds by which a caller's clock may differ from ours."""


@dataclass(frozen=True)
class Scope:
    """The service and the Region that a request is signed for; S3's older signature names no Region."""

    service: str
    region: str
    key_id: str = field(default="", compare=False)
    """The key that signed it."""


@dataclass(frozen=True)
class _Claim:
    """What a request says of its signature."""

    key_id: str
    day: str
    scope: Scope
    headers: list[str]
    signature: str
    moment: str
    """When it was signed, as in 20261122T104500Z."""
    lasts_s: float
    """Seconds for which it may be used; of a header, in both directions."""
    in_url: bool


def check(
    environ: Mapping[str, Any], body: bytes, secret_of: Callable[[str], str | None], *, lasts_s: float | None = None
) -> Scope:
    """Return what a request is signed for. Raise AwsError, in the words of its service, unless a known key signed it.

    `secret_of` returns the secret of a key's id; None for an unknown one. `lasts_s` are the seconds for which the
    request may be used, if that is not what it says itself.
    """
    query = _query(environ)
    claim = _claim(environ, dict(query))
    if claim is None:
        return _check_version_2(environ, dict(query), secret_of)
    if lasts_s is not None:
        claim = replace(claim, lasts_s=lasts_s)
    secret = _secret(claim.scope, claim.key_id, secret_of)
    _check_moment(claim)
    _check_headers(environ, claim)
    canonical = _canonical_request(environ, query, claim, _payload(environ, body, claim))
    scope = f"{claim.day}/{claim.scope.region}/{claim.scope.service}/aws4_request"
    digest = sha256(canonical.encode("latin-1")).hexdigest()
    text = f"{_ALGORITHM}\n{claim.moment}\n{scope}\n{digest}"
    expected = hmac.digest(_signing_key(secret, scope), text.encode(), "sha256").hex()
    if not hmac.compare_digest(expected.encode(), claim.signature.encode()):
        raise _mismatch(claim.scope.service)
    return claim.scope


def claimed_service(environ: Mapping[str, Any]) -> str:
    """Return the service in whose words to refuse a request, by what it says of itself."""
    text = f"{environ.get('HTTP_AUTHORIZATION', '')} {unquote(environ.get('QUERY_STRING', ''))}"
    found = re.search(rf"Credential={_CREDENTIAL.pattern}", text)
    if found:
        return found["service"]
    return "json" if "HTTP_X_AMZ_TARGET" in environ else "s3"


# What is claimed


def _query(environ: Mapping[str, Any]) -> list[tuple[str, str]]:
    pairs = (pair.partition("=") for pair in environ.get("QUERY_STRING", "").split("&") if pair)
    return [(unquote(name), unquote(value)) for name, _, value in pairs]


def _claim(environ: Mapping[str, Any], query: Mapping[str, str]) -> _Claim | None:
    """Return what a header or, without one, a URL claims; None when neither speaks of version 4."""
    given = environ.get("HTTP_AUTHORIZATION")
    if given is not None:
        found = _HEADER.fullmatch(given.strip())
        if found is None:
            raise AwsError("IncompleteSignatureException", f"Authorization is no {_ALGORITHM} signature", 403)
        return _Claim(
            key_id=found["id"],
            day=found["day"],
            scope=Scope(found["service"], found["region"], found["id"]),
            headers=found["headers"].split(";"),
            signature=found["signature"],
            moment=environ.get("HTTP_X_AMZ_DATE", ""),
            lasts_s=_SKEW_S,
            in_url=False,
        )
    if query.get("X-Amz-Algorithm") != _ALGORITHM:
        return None
    found = _CREDENTIAL.fullmatch(query.get("X-Amz-Credential", ""))
    if found is None:
        raise AwsError("AuthorizationQueryParametersError", "X-Amz-Credential is no credential's scope", 400)
    return _Claim(
        key_id=found["id"],
        day=found["day"],
        scope=Scope(found["service"], found["region"], found["id"]),
        headers=query.get("X-Amz-SignedHeaders", "").split(";"),
        signature=query.get("X-Amz-Signature", ""),
        moment=query.get("X-Amz-Date", ""),
        lasts_s=_seconds(query.get("X-Amz-Expires", "")),
        in_url=True,
    )


def _seconds(text: str) -> int:
    if not re.fullmatch("[0-9]{1,6}", text) or not 0 < int(text) <= 604_800:
        raise AwsError("AuthorizationQueryParametersError", "X-Amz-Expires must be from 1 to 604800 seconds", 400)
    return int(text)


def _check_moment(claim: _Claim) -> None:
    """Raise AwsError for a signature that is too old, too new, or of another day than its key."""
    try:
        signed = timegm(time.strptime(claim.moment, "%Y%m%dT%H%M%SZ"))
    except ValueError:
        raise AwsError("AccessDenied", "X-Amz-Date is missing, or no date as in 20261122T104500Z", 403) from None
    age = time.time() - signed
    if not -_SKEW_S <= age <= claim.lasts_s or claim.moment[:8] != claim.day:
        if claim.in_url:
            raise AwsError("AccessDenied", "Request has expired", 403)
        code = "RequestTimeTooSkewed" if claim.scope.service == "s3" else "InvalidSignatureException"
        raise AwsError(code, "The difference between the request time and the current time is too large.", 403)


def _check_headers(environ: Mapping[str, Any], claim: _Claim) -> None:
    """Raise AwsError unless the host and all of AWS's own headers are signed."""
    unsigned = ({"host"} | _amz_headers(environ)) - set(claim.headers)
    if unsigned:
        names = ", ".join(sorted(unsigned))
        raise AwsError("AccessDenied", f"There were headers present in the request which were not signed: {names}", 403)


# What must have been signed


def _payload(environ: Mapping[str, Any], body: bytes, claim: _Claim) -> str:
    """Return what a request says of its body. Raise AwsError when that is untrue."""
    said = environ.get("HTTP_X_AMZ_CONTENT_SHA256")
    s3 = claim.scope.service in ("s3", "s3express")
    if said is None:
        return _UNSIGNED_PAYLOAD if s3 and claim.in_url else sha256(body).hexdigest()
    if _SHA256.fullmatch(said):
        if said != sha256(body).hexdigest():
            raise AwsError("XAmzContentSHA256Mismatch", "The provided x-amz-content-sha256 is not the body's.", 400)
    elif not s3:
        raise _mismatch(claim.scope.service)
    return str(said)


def _canonical_request(environ: Mapping[str, Any], query: list[tuple[str, str]], claim: _Claim, payload: str) -> str:
    path = urlsplit(f"//host{environ['REQUEST_URI']}").path or "/"
    if claim.scope.service not in ("s3", "s3express"):
        ends = "/" if path.endswith("/") and path != "/" else ""
        path = quote(normpath(path).replace("//", "/") + ends, safe="/~")
    pairs = sorted((quote(k, safe="-_.~"), quote(v, safe="-_.~")) for k, v in query if k != "X-Amz-Signature")
    lines = [f"{name}:{' '.join(_header(environ, name).split())}" for name in claim.headers]
    parts = (
        environ["REQUEST_METHOD"],
        path,
        "&".join(f"{name}={value}" for name, value in pairs),
        *lines,
        "",
        ";".join(claim.headers),
        payload,
    )
    return "\n".join(parts)


def _amz_headers(environ: Mapping[str, Any]) -> set[str]:
    return {name[5:].lower().replace("_", "-") for name in environ if name.startswith("HTTP_X_AMZ_")}


def _header(environ: Mapping[str, Any], name: str) -> str:
    variable = name.upper().replace("-", "_")
    if variable in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        return str(environ.get(variable, ""))
    return str(environ.get(f"HTTP_{variable}", ""))


@lru_cache(maxsize=4096)
def _signing_key(secret: str, scope: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


# S3's older signature


def _check_version_2(
    environ: Mapping[str, Any], query: Mapping[str, str], secret_of: Callable[[str], str | None]
) -> Scope:
    scope = Scope("s3", "", query.get("AWSAccessKeyId", ""))
    if not {"AWSAccessKeyId", "Signature", "Expires"} <= set(query):
        raise AwsError("AccessDenied", "This request is not signed: `sweep local status` prints the key.", 403)
    if not re.fullmatch("[0-9]{1,12}", query["Expires"]):
        raise AwsError("AccessDenied", "Invalid date (should be seconds since epoch)", 403)
    amz = [f"{name}:{_header(environ, name).strip()}" for name in sorted(_amz_headers(environ))]
    named = [_header(environ, name) for name in ("content-md5", "content-type")]
    split = urlsplit(f"//host{environ['REQUEST_URI']}")
    meant = sorted(pair for pair in split.query.split("&") if pair.partition("=")[0] in HmacV1Auth.QSAOfInterest)
    resource = split.path + ("?" if meant else "") + "&".join(map(unquote, meant))
    text = "\n".join((environ["REQUEST_METHOD"], *named, query["Expires"], *amz, resource))
    secret = _secret(scope, query["AWSAccessKeyId"], secret_of)
    expected = b64encode(hmac.digest(secret.encode(), text.encode(), "sha1"))
    if not hmac.compare_digest(expected, query["Signature"].encode()):
        raise _mismatch("s3")
    if int(query["Expires"]) < time.time():
        raise AwsError("AccessDenied", "Request has expired", 403)
    return scope


# Refusals


def _secret(scope: Scope, key_id: str, secret_of: Callable[[str], str | None]) -> str:
    secret = secret_of(key_id)
    if secret is not None:
        return secret
    words = "this local cloud has another key: `sweep local status` prints it"
    if scope.service == "s3":
        raise AwsError(
            "InvalidAccessKeyId", f"The AWS Access Key Id you provided does not exist in our records; {words}.", 403
        )
    if scope.service == "ec2":
        raise AwsError("AuthFailure", f"AWS was not able to validate the provided access credentials; {words}.", 401)
    code = "InvalidClientTokenId" if scope.service in ("sts", "iam") else "UnrecognizedClientException"
    raise AwsError(code, f"The security token included in the request is invalid; {words}.", 403)


def _mismatch(service: str) -> AwsError:
    code = "SignatureDoesNotMatch" if service in ("s3", "sts", "iam") else "InvalidSignatureException"
    message = "The request signature we calculated does not match the signature you provided. Check your key."
    return AwsError(code, message, 403)
