"""The bearer token by which a cluster of EKS knows who asks: a URL of STS, signed by us, that the cluster sends itself.

Nothing is sent to make one. EKS takes it for 15 minutes from its date, whatever the URL says.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import NoCredentials

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients

PREFIX = "k8s-aws-v1."
LASTS_S = 14 * 60
"""Seconds for which a token is used again: EKS takes it a minute longer."""
_EXPIRES_S = 60


def make_token(clients: Clients, region: str, cluster: str) -> str:
    """Return a token for a cluster, signed with our credentials. Raise NoCredentials when there are none."""
    from botocore.hooks import HierarchicalEmitter
    from botocore.model import ServiceId
    from botocore.signers import RequestSigner

    with aws_errors(f"sign in to the cluster {cluster}", where=region):
        credentials = clients.credentials()
        if credentials is None:
            raise NoCredentials(f"could not sign in to the cluster {cluster}: there are no credentials", where=region)
        emitter = HierarchicalEmitter()  # the signer itself does not keep it
        signer = RequestSigner(ServiceId("sts"), region, "sts", "v4", credentials, emitter)
        domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
        asked = {
            "method": "GET",
            "url": f"https://sts.{region}.{domain}/?Action=GetCallerIdentity&Version=2011-06-15",
            "body": {},
            "headers": {"x-k8s-aws-id": cluster},
            "context": {},
        }
        url: str = signer.generate_presigned_url(asked, region_name=region, expires_in=_EXPIRES_S, operation_name="")
    return PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
