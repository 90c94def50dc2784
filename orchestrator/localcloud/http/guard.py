"""Decides who may speak to this cloud. Whoever may can run commands on this machine: so only its owner, by its key.

A web page in the owner's own browser may not. It can send requests here, but it cannot sign them. A browser also tells
which page sends a request, and to which name; what comes from elsewhere, or to another name, is not even looked at.
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from orchestrator.localcloud.http import signature
from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.names import Access

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.localcloud.http.signature import Scope

_OWN_SITES = ("same-origin", "none")
"""What a browser says of a request that our own page sends, and of an address that a person types."""


class Guard:
    """Knows this cloud's key, and the names under which it may be asked for anything."""

    def __init__(self, access: Access, other_secret: Callable[[str], str | None]) -> None:
        """`other_secret` returns the secrets of keys that were made in this cloud, by its IAM and STS."""
        self.endpoint = access.endpoint
        self._access = access
        self._other_secret = other_secret
        port = urlsplit(access.endpoint).port
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._origins = tuple(f"http://{host}" for host in self._hosts)
        word = hmac.digest(access.secret.encode(), b"the page", sha256).hex()[:32]
        self.page_query = f"key={word}"
        """What opens the page, and nothing else."""

    def refuse_strangers(self, environ: Mapping[str, Any]) -> None:
        """Raise AwsError for a request to another name, as after DNS rebinding, or from another site's page."""
        host = environ.get("HTTP_HOST", "")
        if host not in self._hosts:
            raise _stranger(f"this is {self._hosts[0]}, not {host or 'a server without a name'}")
        origin = environ.get("HTTP_ORIGIN")
        if origin is not None and origin not in self._origins:
            raise _stranger(f"pages of {origin} may not use it")
        site = environ.get("HTTP_SEC_FETCH_SITE")
        if site is not None and site not in _OWN_SITES:
            raise _stranger("pages of other sites may neither use it nor lead to it")

    def wants_page(self, environ: Mapping[str, Any]) -> bool:
        """Return True for a person who asks for the page. Raise AwsError when the word that opens it is wrong."""
        if environ["REQUEST_METHOD"] != "GET" or environ["PATH_INFO"] != "/" or "HTTP_AUTHORIZATION" in environ:
            return False
        query = environ.get("QUERY_STRING", "")
        if query and not query.startswith("key="):
            return False
        if not hmac.compare_digest(query.encode("latin-1"), self.page_query.encode()):
            raise AwsError("AccessDenied", "the page has an address of its own: `sweep local status` prints it", 403)
        return True

    def check_steering(self, environ: Mapping[str, Any]) -> None:
        """Raise AwsError unless a request to steer the cloud brings its secret."""
        given = environ.get("HTTP_AUTHORIZATION", "")
        if not hmac.compare_digest(given.encode("latin-1"), f"Bearer {self._access.secret}".encode()):
            raise AwsError("AccessDenied", "only who has this cloud's secret may steer it", 403)

    def scope(self, environ: Mapping[str, Any], body: bytes) -> Scope:
        """Return what a request is signed for. Raise AwsError unless it is signed with a key of this cloud."""
        return signature.check(environ, body, self.secret)

    def access(self, key_id: str, token: str) -> Access:
        """Return the way in of whoever has a key, for services that call others on behalf of their caller."""
        return Access(self.endpoint, key_id, self.secret(key_id) or "", token)

    def secret(self, key_id: str) -> str | None:
        """Return the secret of a key of this cloud; None for any other."""
        return self._access.secret if key_id == self._access.key_id else self._other_secret(key_id)


def _stranger(why: str) -> AwsError:
    return AwsError("AccessDenied", f"The local cloud runs commands, and trusts nobody: {why}.", 403)
