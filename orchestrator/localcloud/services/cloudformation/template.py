"""What a template may hold: whatever we do not know is refused, and nothing is passed over."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.cloudformation.intrinsics import names_in
from orchestrator.localcloud.services.cloudformation.kinds import KINDS

LONGEST = 51_200
_SECTIONS = {"AWSTemplateFormatVersion", "Description", "Resources", "Outputs"}
_PARTS = {"Type", "Properties", "DependsOn", "DeletionPolicy", "UpdateReplacePolicy"}
_DELETION = ("Delete", "Retain", "RetainExceptOnCreate")
_NAMED_IAM = ("AWS::IAM::Role", "AWS::IAM::ManagedPolicy")


@dataclass(frozen=True)
class Declared:
    """A resource as a template declares it."""

    logical: str
    type: str
    properties: dict[str, Any]
    needs: frozenset[str]
    """The resources that must be there before, by their names in the template."""
    deletion: str

    @property
    def kept(self) -> bool:
        """True when it stays as its stack goes."""
        return self.deletion != "Delete"


@dataclass(frozen=True)
class Template:
    """A template that was read."""

    text: str
    description: str
    resources: dict[str, Declared]
    outputs: dict[str, Any]

    @classmethod
    def empty(cls) -> Template:
        """Return the template of a stack that has nothing yet."""
        return cls("", "", {}, {})

    @classmethod
    def read(cls, text: str) -> Template:
        """Return a template in JSON. Raise CloudFormation's refusal of one that is wrong."""
        if len(text.encode()) > LONGEST:
            raise refusal(f"1 validation error detected: templateBody has more than {LONGEST} bytes")
        try:
            body = json.loads(text)
        except ValueError as error:
            raise refusal(f"Template format error: JSON not well-formed. ({error})") from error
        if not isinstance(body, dict) or not body.get("Resources"):
            raise refusal("Template format error: At least one Resources member must be defined.")
        if unknown := sorted(body.keys() - _SECTIONS):
            raise refusal(f"Invalid template property or properties [{', '.join(unknown)}]")
        types = {str(each.get("Type")) for each in body["Resources"].values()}
        if foreign := sorted(types - KINDS.keys()):
            raise refusal(f"Template format error: Unrecognized resource types: [{', '.join(foreign)}]")
        resources = {name: _declared(name, each) for name, each in body["Resources"].items()}
        for each in resources.values():
            if missing := sorted(each.needs - resources.keys()):
                raise refusal(
                    f"Template format error: Unresolved resource dependencies {missing} in the Resources block"
                )
        return cls(text, body.get("Description", ""), resources, body.get("Outputs", {}))

    @property
    def in_order(self) -> list[Declared]:
        """The resources, each after those that it needs. Raise the refusal of a circle."""
        done: dict[str, Declared] = {}
        while len(done) < len(self.resources):
            ready = [one for one in self.resources.values() if one.logical not in done and one.needs <= done.keys()]
            if not ready:
                left = sorted(self.resources.keys() - done.keys())
                raise refusal(f"Circular dependency between resources: [{', '.join(left)}]")
            done |= {one.logical: one for one in ready}
        return list(done.values())

    @property
    def makes_named_roles(self) -> bool:
        """True when it makes roles or policies with names of their own, which has to be allowed."""
        return any(each.type in _NAMED_IAM for each in self.resources.values())


def refusal(message: str) -> AwsError:
    """Return the error with which CloudFormation refuses a request; the caller raises it."""
    return AwsError("ValidationError", message)


def _declared(name: str, body: dict[str, Any]) -> Declared:
    if unknown := sorted(body.keys() - _PARTS):
        raise refusal(f"Invalid template resource property '{unknown[0]}'")
    deletion = body.get("DeletionPolicy", "Delete")
    if deletion not in _DELETION:
        raise refusal(f"Template error: unrecognized DeletionPolicy {deletion!r} of {name}")
    properties = body.get("Properties", {})
    before = body.get("DependsOn", [])
    explicit = {before} if isinstance(before, str) else set(before)
    return Declared(name, body["Type"], properties, frozenset(explicit | names_in(properties)), deletion)
