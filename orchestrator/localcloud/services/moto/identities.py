"""What we use of moto's IAM and STS: users, roles, their policies and their keys. See also `backends.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from moto.iam.models import iam_backends
from moto.sts.models import sts_backends

from orchestrator.localcloud.services.moto.backends import ACCOUNT, PARTITION

LASTS_S = 3600
"""Seconds for which the keys of a role's session are good."""


@dataclass(frozen=True)
class Known:
    """A user or a role: its ARN, the documents of its policies by their names, and its tags."""

    arn: str
    id: str
    policies: tuple[tuple[str, str], ...]
    boundary: tuple[str, str] | None
    tags: tuple[tuple[str, str], ...]
    trust: str = ""
    """Who may take a role on, as a policy's document; empty for a user."""


@dataclass(frozen=True)
class Session:
    """Keys that were given to somebody who took a role on."""

    role: str
    """The role's ARN."""
    name: str
    key_id: str
    secret: str
    token: str
    policy: str
    """The policy that the session was further limited by; empty if none."""


class Identities:
    """The users and the roles of the account."""

    def __init__(self) -> None:
        self._iam = iam_backends[ACCOUNT][PARTITION]
        self._sts = sts_backends[ACCOUNT][PARTITION]

    def user_of(self, key_id: str) -> Known | None:
        """Return the user that a key belongs to; None for a key of no user."""
        key = self._iam.access_keys.get(key_id)
        user = self._iam.users.get(key.user_name) if key is not None and key.user_name else None
        return self._user(user) if user is not None else None

    def user(self, arn: str) -> Known | None:
        """Return a user; None when there is none of this ARN."""
        return next((self._user(each) for each in list(self._iam.users.values()) if each.arn == arn), None)

    def _user(self, user: Any) -> Known:
        policies = _policies(user)
        for group in self._iam.groups.values():
            if user in group.users:
                policies += _policies(group)
        tags = self._iam.tagger.get_tag_dict_for_resource(user.arn)
        return Known(user.arn, user.id, tuple(policies), None, tuple(tags.items()))

    def role(self, arn: str) -> Known | None:
        """Return a role; None when there is none of this ARN."""
        role = next((each for each in list(self._iam.roles.values()) if each.arn == arn), None)
        if role is None:
            return None
        boundary = role.permissions_boundary_arn
        return Known(
            arn=role.arn,
            id=role.id,
            policies=tuple(_policies(role)),
            boundary=(boundary, self._managed(boundary)) if boundary else None,
            tags=tuple((tag["Key"], tag["Value"]) for tag in _tags(role)),
            trust=role.assume_role_policy_document,
        )

    def session_of(self, key_id: str) -> Session | None:
        """Return the session that a key belongs to; None for a key of none."""
        made = self._sts.get_assumed_role_from_access_key(key_id)
        if made is None:
            return None
        secret, token = made.secret_access_key, made.session_token
        return Session(made.role_arn, made.session_name, key_id, secret, token, made.policy or "")

    def take_on(self, role: str, session: str) -> Session:
        """Give somebody keys who takes a role on."""
        made = self._sts.assume_role("us-east-1", session, role, "", LASTS_S, "")
        return Session(role, session, made.access_key_id, made.secret_access_key, made.session_token, "")

    def _managed(self, arn: str) -> str:
        """Return the document of a managed policy; one that denies everything when there is none."""
        found = self._iam.managed_policies.get(arn)
        return _document(found) if found else '{"Statement": []}'


def _policies(identity: Any) -> list[tuple[str, str]]:
    managed = [(policy.arn, _document(policy)) for policy in list(identity.managed_policies.values())]
    return [*identity.policies.items(), *managed]


def _document(managed: Any) -> str:
    return next(str(each.document) for each in managed.versions if each.version_id == managed.default_version_id)


def _tags(role: Any) -> list[dict[str, str]]:
    return list(role.tags.values()) if isinstance(role.tags, dict) else list(role.tags or ())
