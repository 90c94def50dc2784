"""What CloudFormation must know of a type of resource."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from orchestrator.localcloud.services.cloudformation.caller import Caller

Properties = dict[str, Any]


class Kind(Protocol):
    """One type of resource, made by the service that it belongs to. Errors of that service are botocore's own."""

    properties: frozenset[str]
    """The properties that are known. Any other fails the stack."""
    fixed: frozenset[str]
    """The properties that cannot be changed: another value wants another resource."""
    named_by: str
    """The property that names the resource; empty if the service makes its name."""

    def create(self, caller: Caller, wanted: Properties) -> str:
        """Make the resource, and return its physical id."""
        ...

    def configure(self, caller: Caller, physical: str, wanted: Properties) -> None:
        """Give a resource that was just made those properties that take further requests."""
        ...

    def read(self, caller: Caller, physical: str) -> Properties | None:
        """Return the properties that the resource has, as its service tells them; None when there is none."""
        ...

    def update(self, caller: Caller, physical: str, wanted: Properties) -> None:
        """Give the resource other properties."""
        ...

    def delete(self, caller: Caller, physical: str) -> None:
        """Delete the resource. Nothing happens when there is none."""
        ...

    def physical_of(self, caller: Caller, name: str) -> str:
        """Return the physical id of a resource of this name."""
        ...

    def attribute(self, caller: Caller, physical: str, name: str) -> str:
        """Return what Fn::GetAtt stands for. Raise KeyError for an attribute that is not known."""
        ...


class Named:
    """The usual answers of a type whose resources are known by a name of their own."""

    fixed: frozenset[str] = frozenset()
    named_by: str = ""

    def configure(self, caller: Caller, physical: str, wanted: Properties) -> None:
        """Ask for nothing further: one request made it whole."""

    def physical_of(self, caller: Caller, name: str) -> str:  # noqa: ARG002
        return name

    def attribute(self, caller: Caller, physical: str, name: str) -> str:  # noqa: ARG002
        raise KeyError(name)


def differences(wanted: Any, there: Any, path: str = "") -> list[str]:
    """Return the paths at which a resource is not what was asked for. What nobody asked for may be anything."""
    if isinstance(wanted, dict) and isinstance(there, dict):
        return [found for key in wanted for found in differences(wanted[key], there.get(key), f"{path}/{key}")]
    if isinstance(wanted, list) and isinstance(there, list) and len(wanted) == len(there):
        pairs = enumerate(zip(wanted, there, strict=True))
        return [found for number, (one, other) in pairs for found in differences(one, other, f"{path}/{number}")]
    return [] if _plain(wanted) == _plain(there) else [path]


def _plain(value: Any) -> str:
    """Return a value as CloudFormation compares it: `true` and "true" are one."""
    return str(value).lower() if isinstance(value, bool) else str(value)
