"""Who a caller is, by its key, and which policies it has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.iam import policy
from orchestrator.localcloud.iam.evaluation import Policies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.localcloud.services.moto.identities import Identities, Known


@dataclass(frozen=True)
class Principal:
    """A caller: the account's root user, a user, or a role's session."""

    arn: str
    """The name in refusals and of GetCallerIdentity."""
    of: str
    """The user's own ARN, or the role's."""
    policies: Policies | None
    """None for the root user, to whom policies do not apply."""
    context: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What is known of the caller, by the keys of conditions."""


class Callers:
    """Finds who makes a call."""

    def __init__(self, account: str, root_key: str, identities: Identities) -> None:
        """`root_key` is the id of the cloud's own key, which is the root user's."""
        self._account = account
        self._root_key = root_key
        self._identities = identities

    def find(self, key_id: str, token: str) -> Principal:
        """Return whose a key is. Raise AwsError for a session's key without its token, or after its role has gone."""
        if key_id == self._root_key:
            return Principal(f"arn:aws:iam::{self._account}:root", f"arn:aws:iam::{self._account}:root", None)
        session = self._identities.session_of(key_id)
        if session is not None:
            if token != session.token:
                raise AwsError("InvalidClientTokenId", "The security token included in the request is invalid.", 403)
            return self.of_role(session.role, session.name, session.policy)
        user = self._identities.user_of(key_id)
        if user is None:
            raise AwsError("InvalidClientTokenId", "The security token included in the request is invalid.", 403)
        return self._made(user, user.arn, None, "User", user.id)

    def of_role(self, role_arn: str, session: str, limit: str = "") -> Principal:
        """Return a role's session as a caller; `limit` is its own policy. A role that has gone may do nothing."""
        role = self._identities.role(role_arn)
        name = role_arn.rpartition("/")[2]
        arn = f"arn:aws:sts::{self._account}:assumed-role/{name}/{session}"
        if role is None:
            return Principal(arn, role_arn, Policies(identity=()))
        bound = policy.read("of the session", limit) if limit else None
        return self._made(role, arn, bound, "AssumedRole", f"{role.id}:{session}")

    def of_identity(self, arn: str) -> Principal | None:
        """Return a role or a user by its ARN, as the simulator is asked about it; None if there is none."""
        role = self._identities.role(arn)
        if role is not None:
            return self._made(role, arn, None, "AssumedRole", role.id)
        user = self._identities.user(arn)
        return self._made(user, arn, None, "User", user.id) if user else None

    def _made(self, known: Known, arn: str, session: policy.Policy | None, kind: str, user_id: str) -> Principal:
        context = {
            "aws:principalarn": (known.arn,),
            "aws:principalaccount": (self._account,),
            "aws:principaltype": (kind,),
            "aws:userid": (user_id,),
            **({"aws:username": (known.arn.rpartition("/")[2],)} if kind == "User" else {}),
            **{f"aws:principaltag/{key.lower()}": (value,) for key, value in known.tags},
        }
        policies = Policies(
            identity=tuple(policy.read(name, document) for name, document in known.policies),
            boundary=policy.read(*known.boundary) if known.boundary else None,
            session=session,
        )
        return Principal(arn, known.arn, policies, context)
