"""Which role do the pods of a service account have? EKS's Pod Identity associations of one cluster."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from orchestrator.localcloud.http.answers import AwsError

Body = dict[str, Any]


@dataclass
class Association:
    """A service account, and the role of its pods. The account need not be there yet."""

    namespace: str
    account: str
    role: str
    id: str


class Associations:
    """The associations of one cluster."""

    def __init__(self) -> None:
        self._all: dict[str, Association] = {}

    def role_of(self, namespace: str, account: str) -> str:
        """Return the role of a service account's pods; empty if they have none."""
        return next((one.role for one in self.find(namespace, account)), "")

    def add(self, namespace: str, account: str, role: str) -> Association:
        """Add an association. Raise AwsError when the account has one."""
        if self.find(namespace, account):
            message = f"Association already exists: {next(iter(self.find(namespace, account))).id}"
            raise AwsError("ResourceInUseException", message, 409)
        made = Association(namespace, account, role, f"a-{secrets.token_hex(9)[:17]}")
        self._all[made.id] = made
        return made

    def get(self, association: str) -> Association:
        """Return an association by its id. Raise AwsError when there is none."""
        if association not in self._all:
            message = f"The association ID {association} doesn't exist in the cluster."
            raise AwsError("ResourceNotFoundException", message, 404)
        return self._all[association]

    def remove(self, association: str) -> Association:
        """Remove an association, and return it. Raise AwsError when there is none."""
        return self._all.pop(self.get(association).id)

    def find(self, namespace: str = "", account: str = "") -> list[Association]:
        """Return the associations of a namespace and an account, or of all."""
        return [one for one in self._all.values() if namespace in ("", one.namespace) and account in ("", one.account)]
