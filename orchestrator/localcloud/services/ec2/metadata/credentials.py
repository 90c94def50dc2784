"""The keys that an instance gets for its profile's role, from the local cloud's own STS."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.iam.service_roles import CannotTakeOn, Duty
from orchestrator.localcloud.services.ec2.calls.wire import moment
from orchestrator.localcloud.services.moto.identities import Identities

if TYPE_CHECKING:
    from orchestrator.localcloud.services.ec2.instance import Instance
    from orchestrator.localcloud.site import Site

_LAST_S = 6 * 3600.0
_RENEWED_BEFORE_S = 15 * 60.0
_PRINCIPAL = "ec2.amazonaws.com"
_REFUSED = "AssumeRoleUnauthorizedAccess"


class Credentials:
    """One instance's keys. They are made when they are first asked for, and anew before they end."""

    def __init__(self, site: Site, instance: Instance) -> None:
        self._site = site
        self._instance = instance
        self._until = 0.0
        self._document = ""
        self._lock = threading.Lock()

    def document(self) -> str:
        """Return the keys as the metadata service shows them, or why there are none."""
        with self._lock:
            now = self._site.clock.now()
            if now > self._until - _RENEWED_BEFORE_S:
                self._until = now + _LAST_S
                self._document = json.dumps(self._new(now), indent=2)
            return self._document

    def _new(self, now: float) -> dict[str, Any]:
        profile = self._instance.reservation.profile
        role = profile.role if profile else ""
        try:
            self._site.roles.variables(Duty(role, _PRINCIPAL, self._instance.id, self._instance.region))
        except CannotTakeOn as error:
            return {"Code": _REFUSED, "LastUpdated": moment(now), "Message": str(error)}
        made = Identities().take_on(role, self._instance.id)
        return {
            "Code": "Success",
            "LastUpdated": moment(now),
            "Type": "AWS-HMAC",
            "AccessKeyId": made.key_id,
            "SecretAccessKey": made.secret,
            "Token": made.token,
            "Expiration": moment(self._until),
        }
