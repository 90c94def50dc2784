"""Whose a request is, by its signature.

Source: the examples of AWS's own documentation, with their keys, requests and signatures: [S3] Amazon S3 API reference,
"Signature calculations for the Authorization header" and "Authenticating requests using query parameters"; [IAM] AWS
General Reference, "Signature Version 4 signing process".
"""

from __future__ import annotations

import calendar
import time
from typing import Any

import pytest

from orchestrator.localcloud.http import signature
from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.http.signature import Scope

KEYS = {
    "AKIAIOSFODNN7EXAMPLE": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "AKIDEXAMPLE": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
}
NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
S3_DAY = "20130524T000000Z"
OBJECT = {
    "REQUEST_METHOD": "GET",
    "REQUEST_URI": "/test.txt",
    "QUERY_STRING": "",
    "HTTP_HOST": "examplebucket.s3.amazonaws.com",
    "HTTP_RANGE": "bytes=0-9",
    "HTTP_X_AMZ_CONTENT_SHA256": NOTHING,
    "HTTP_X_AMZ_DATE": S3_DAY,
    "HTTP_AUTHORIZATION": "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
    "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
    "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
}
LISTING = {
    **{name: value for name, value in OBJECT.items() if name != "HTTP_RANGE"},
    "REQUEST_URI": "/?max-keys=2&prefix=J",
    "QUERY_STRING": "max-keys=2&prefix=J",
    "HTTP_AUTHORIZATION": "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
    "SignedHeaders=host;x-amz-content-sha256;x-amz-date,"
    "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
}
SIGNED_QUERY = (
    "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
    "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
    "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
)
URL = {
    "REQUEST_METHOD": "GET",
    "REQUEST_URI": f"/test.txt?{SIGNED_QUERY}",
    "QUERY_STRING": SIGNED_QUERY,
    "HTTP_HOST": "examplebucket.s3.amazonaws.com",
}
USERS = {
    "REQUEST_METHOD": "GET",
    "REQUEST_URI": "/?Action=ListUsers&Version=2010-05-08",
    "QUERY_STRING": "Action=ListUsers&Version=2010-05-08",
    "HTTP_HOST": "iam.amazonaws.com",
    "CONTENT_TYPE": "application/x-www-form-urlencoded; charset=utf-8",
    "HTTP_X_AMZ_DATE": "20150830T123600Z",
    "HTTP_AUTHORIZATION": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
    "SignedHeaders=content-type;host;x-amz-date, "
    "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
}
EXAMPLES = {
    "an object, by its header [S3]": (OBJECT, S3_DAY, Scope("s3", "us-east-1")),
    "a listing, by its header [S3]": (LISTING, S3_DAY, Scope("s3", "us-east-1")),
    "an object, by its URL [S3]": (URL, S3_DAY, Scope("s3", "us-east-1")),
    "users, by their header [IAM]": (USERS, "20150830T123600Z", Scope("iam", "us-east-1")),
}


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Any:
    def set_clock(moment: str, later_s: float = 0) -> None:
        now = calendar.timegm(time.strptime(moment, "%Y%m%dT%H%M%SZ")) + later_s
        monkeypatch.setattr(time, "time", lambda: now)

    return set_clock


def refusal(environ: dict[str, Any], body: bytes = b"") -> str:
    with pytest.raises(AwsError) as caught:
        signature.check(environ, body, KEYS.get)
    assert 400 <= caught.value.status < 404
    return caught.value.code


@pytest.mark.parametrize("example", EXAMPLES)
def test_aws_own_examples_are_signed_by_their_keys(example: str, at: Any) -> None:
    environ, moment, scope = EXAMPLES[example]
    at(moment)
    assert signature.check(environ, b"", KEYS.get) == scope


@pytest.mark.parametrize("example", EXAMPLES)
def test_whatever_is_changed_is_refused(example: str, at: Any) -> None:
    environ, moment, _ = EXAMPLES[example]
    at(moment)
    for name in environ.keys() - {"QUERY_STRING", "REQUEST_URI"}:
        refusal({**environ, name: environ[name][:-1] + ("8" if environ[name].endswith("7") else "7")})
    path, query = environ["REQUEST_URI"].partition("?")[0], environ["QUERY_STRING"]
    refusal({**environ, "REQUEST_URI": f"{path}s?{query}"})
    refusal({**environ, "QUERY_STRING": f"{query}&list-type=2"})
    if environ is not URL:
        refusal(environ, b"another body")


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_key_that_nobody_gave_is_refused(example: str, at: Any) -> None:
    environ, moment, scope = EXAMPLES[example]
    at(moment)
    with pytest.raises(AwsError) as caught:
        signature.check(environ, b"", {}.get)
    assert caught.value.code == ("InvalidAccessKeyId" if scope.service == "s3" else "InvalidClientTokenId")
    assert "`sweep local status` prints it" in caught.value.message


def test_a_signature_is_good_for_a_quarter_of_an_hour_and_a_url_as_long_as_it_says(at: Any) -> None:
    for later_s in (-899, 899):
        at(S3_DAY, later_s)
        signature.check(OBJECT, b"", KEYS.get)
    for later_s in (-901, 901):
        at(S3_DAY, later_s)
        assert refusal(OBJECT) == "RequestTimeTooSkewed"
    at(S3_DAY, 86_399)
    signature.check(URL, b"", KEYS.get)
    at(S3_DAY, 86_401)
    assert refusal(URL) == "AccessDenied"


def test_a_header_of_aws_that_is_not_signed_is_refused(at: Any) -> None:
    at(S3_DAY)
    assert refusal({**OBJECT, "HTTP_X_AMZ_ACL": "public-read"}) == "AccessDenied"


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"HTTP_AUTHORIZATION": "Basic c3dlZXA6c3dlZXA="},
        {"HTTP_AUTHORIZATION": "AWS4-HMAC-SHA256 Credential=a/20130524/us-east-1/batch/aws4_request"},
        {"QUERY_STRING": "X-Amz-Credential=a/20130524/us-east-1/batch/aws4_request"},
        {"QUERY_STRING": "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a%2F20130524%2Fus-east-1%2Fbatch"},
        {"QUERY_STRING": SIGNED_QUERY.replace("86400", "-1")},
        {"QUERY_STRING": SIGNED_QUERY.replace("86400", "9" * 99)},
        {"QUERY_STRING": "AWSAccessKeyId=AKIDEXAMPLE&Signature=%F0%9F&Expires=2000000000"},
        {"QUERY_STRING": "AWSAccessKeyId=AKIDEXAMPLE&Signature=a&Expires=never"},
        {"HTTP_AUTHORIZATION": OBJECT["HTTP_AUTHORIZATION"], "HTTP_X_AMZ_DATE": "\u00b2013"},
    ],
)
def test_what_is_not_signed_or_half_is_refused(given: dict[str, str]) -> None:
    query = given.get("QUERY_STRING", "")
    plain = {"REQUEST_METHOD": "POST", "REQUEST_URI": f"/v1/submitjob?{query}", "HTTP_HOST": "127.0.0.1:1"}
    refusal({**plain, **given})
