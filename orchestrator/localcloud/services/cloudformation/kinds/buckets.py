"""AWS::S3::Bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from orchestrator.localcloud.services.cloudformation.kinds.kind import Named, Properties

if TYPE_CHECKING:
    from orchestrator.localcloud.services.cloudformation.caller import Caller

_NOT_SET = (
    "ServerSideEncryptionConfigurationNotFoundError",
    "NoSuchPublicAccessBlockConfiguration",
    "OwnershipControlsNotFoundError",
    "NoSuchLifecycleConfiguration",
)


class Bucket(Named):
    properties = frozenset(
        {
            "BucketName",
            "VersioningConfiguration",
            "BucketEncryption",
            "PublicAccessBlockConfiguration",
            "OwnershipControls",
            "LifecycleConfiguration",
        }
    )
    fixed = frozenset({"BucketName"})
    named_by = "BucketName"

    def create(self, caller: Caller, wanted: Properties) -> str:
        s3, name = caller.client("s3"), str(wanted["BucketName"])
        where = {} if caller.region == "us-east-1" else {"LocationConstraint": caller.region}
        s3.create_bucket(Bucket=name, **({"CreateBucketConfiguration": where} if where else {}))
        return name

    def configure(self, caller: Caller, physical: str, wanted: Properties) -> None:
        self.update(caller, physical, wanted)

    def update(self, caller: Caller, physical: str, wanted: Properties) -> None:
        s3 = caller.client("s3")
        if versioning := wanted.get("VersioningConfiguration"):
            s3.put_bucket_versioning(Bucket=physical, VersioningConfiguration=versioning)
        if encryption := wanted.get("BucketEncryption"):
            rules = [_encryption_rule(rule) for rule in encryption["ServerSideEncryptionConfiguration"]]
            s3.put_bucket_encryption(Bucket=physical, ServerSideEncryptionConfiguration={"Rules": rules})
        if block := wanted.get("PublicAccessBlockConfiguration"):
            s3.put_public_access_block(Bucket=physical, PublicAccessBlockConfiguration=block)
        if ownership := wanted.get("OwnershipControls"):
            s3.put_bucket_ownership_controls(Bucket=physical, OwnershipControls=ownership)
        if lifecycle := wanted.get("LifecycleConfiguration"):
            rules = [_lifecycle_rule(rule) for rule in lifecycle["Rules"]]
            s3.put_bucket_lifecycle_configuration(Bucket=physical, LifecycleConfiguration={"Rules": rules})

    def read(self, caller: Caller, physical: str) -> Properties | None:
        s3 = caller.client("s3")
        try:
            s3.head_bucket(Bucket=physical)
        except ClientError:
            return None
        encryption = _get(s3.get_bucket_encryption, physical).get("ServerSideEncryptionConfiguration", {})
        block = _get(s3.get_public_access_block, physical).get("PublicAccessBlockConfiguration")
        lifecycle = _get(s3.get_bucket_lifecycle_configuration, physical).get("Rules", [])
        return {
            "BucketName": physical,
            "VersioningConfiguration": {"Status": s3.get_bucket_versioning(Bucket=physical).get("Status")},
            "BucketEncryption": {
                "ServerSideEncryptionConfiguration": [_shown_encryption(rule) for rule in encryption.get("Rules", [])]
            },
            "PublicAccessBlockConfiguration": block,
            "OwnershipControls": _get(s3.get_bucket_ownership_controls, physical).get("OwnershipControls"),
            "LifecycleConfiguration": {"Rules": [_shown_lifecycle(rule) for rule in lifecycle]},
        }

    def delete(self, caller: Caller, physical: str) -> None:
        try:
            caller.client("s3").delete_bucket(Bucket=physical)
        except ClientError as error:
            if error.response["Error"]["Code"] != "NoSuchBucket":
                raise


def _get(ask: Any, bucket: str) -> dict[str, Any]:
    """Return a part of a bucket's configuration; nothing where none is set."""
    try:
        found: dict[str, Any] = ask(Bucket=bucket)
    except ClientError as error:
        if error.response["Error"]["Code"] in _NOT_SET:
            return {}
        raise
    return found


def _encryption_rule(rule: Properties) -> dict[str, Any]:
    renamed = {"ServerSideEncryptionByDefault": "ApplyServerSideEncryptionByDefault"}
    return {renamed.get(key, key): value for key, value in rule.items()}


def _shown_encryption(rule: dict[str, Any]) -> Properties:
    renamed = {"ApplyServerSideEncryptionByDefault": "ServerSideEncryptionByDefault"}
    return {renamed.get(key, key): value for key, value in rule.items()}


def _lifecycle_rule(rule: Properties) -> dict[str, Any]:
    made = {"ID" if key == "Id" else key: value for key, value in rule.items() if key != "ExpiredObjectDeleteMarker"}
    if "ExpiredObjectDeleteMarker" in rule:
        made["Expiration"] = {"ExpiredObjectDeleteMarker": rule["ExpiredObjectDeleteMarker"]}
    return {"Filter": {"Prefix": ""}, **made}


def _shown_lifecycle(rule: dict[str, Any]) -> Properties:
    shown = {"Id" if key == "ID" else key: value for key, value in rule.items() if key not in ("Expiration", "Filter")}
    return {**shown, **rule.get("Expiration", {})}
