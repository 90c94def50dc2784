"""A bundle for support has what was found, and nobody's secrets."""

from __future__ import annotations

import io
import zipfile

import pytest

from orchestrator.infra.doctor.bundle import HIDDEN, make_bundle, strip
from orchestrator.platforms.account.finding import ok, wrong

SECRET = "wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzKEYa"  # sweep: plain


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("database = 'postgresql://me:hunter2@host/db'", f"database = 'postgresql://me:{HIDDEN}@host/db'"),
        ('"campaign_database": "postgresql://u:p4ss@h/x",', f'"campaign_database": "postgresql://u:{HIDDEN}@h/x",'),
        ("  WANDB_API_KEY: abc", f"  WANDB_API_KEY: {HIDDEN}"),
        ("db_password = 'x'", f"db_password = {HIDDEN}"),
        ("note: AKIA" + "ABCDEFGHIJKLMNOP", HIDDEN),
        (f"command: run {SECRET}", f"command: run {HIDDEN}"),
        ("learning-rate: [0.1, 0.2]", "learning-rate: [0.1, 0.2]"),
        ("bucket = 'sweep-control-123456789012-us-east-1'", "bucket = 'sweep-control-123456789012-us-east-1'"),
    ],
)
def test_what_may_be_a_secret_is_left_out_and_the_rest_stays(text: str, left: str) -> None:
    assert strip(text) == left


def test_a_private_key_is_left_out_as_a_whole() -> None:
    text = "a: 1\n-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\nb: 2"  # sweep: plain
    assert strip(text) == f"a: 1\n{HIDDEN}\n{HIDDEN}\nb: 2"


def test_a_bundle_has_findings_settings_versions_and_the_sweep() -> None:
    found = [ok("clock", "here", "agrees"), wrong("role", "r", "not there", "sweep infra deploy")]
    body = make_bundle(found, {"database": "postgresql://me:hunter2@h/d"}, {"sweep.yaml": "token: t0ps3cret"})
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert set(texts) == {"findings.json", "settings.json", "versions.json", "sweep.yaml"}
    assert "sweep infra deploy" in texts["findings.json"]
    assert "boto3" in texts["versions.json"]
    assert not any("hunter2" in text or "t0ps3cret" in text for text in texts.values())
