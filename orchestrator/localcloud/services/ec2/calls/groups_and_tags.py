"""EC2's operations on placement groups and tags in one Region, and those that are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.iam.needs.instances import RESOURCE_TYPES
from orchestrator.localcloud.services.ec2.calls.filters import matches, page
from orchestrator.localcloud.services.ec2.calls.request_checks import check_shown, tags_of
from orchestrator.localcloud.services.ec2.calls.wire import read, written
from orchestrator.localcloud.services.ec2.placement_groups import PlacementGroup, show

if TYPE_CHECKING:
    from orchestrator.localcloud.services.ec2.lifecycle import InstanceLifecycle
    from orchestrator.localcloud.services.ec2.placement_groups import PlacementGroups
    from orchestrator.localcloud.services.moto.ec2 import Ec2Store
    from orchestrator.localcloud.site import Site

Body = dict[str, Any]


_OURS = {
    "i": "InvalidInstanceID.NotFound",
    "pg": "InvalidPlacementGroup.Unknown",
    "sir": "InvalidSpotInstanceRequestID.NotFound",
}
"""The refusals of what is not there, by the beginnings of the ids that are ours."""


class GroupsAndTags:
    """Placement groups and tags in one Region. Each operation is a method of boto3's name, which takes a form."""

    def __init__(
        self, site: Site, region: str, store: Ec2Store, lifecycle: InstanceLifecycle, groups: PlacementGroups
    ) -> None:
        self._site = site
        self._region = region
        self._store = store
        self._lifecycle = lifecycle
        self._groups = groups

    # Placement groups

    def create_placement_group(self, body: Body) -> Body:
        request = read("CreatePlacementGroup", body)
        if "GroupName" not in request:
            raise AwsError("MissingParameter", "The request must contain the parameter GroupName")
        with self._lifecycle.lock:
            group = self._groups.create(request["GroupName"], request.get("Strategy", "cluster"))
            if tags := tags_of(request).get("placement-group"):
                self._store.tag([group.id], tags)
        return written("CreatePlacementGroup", {"PlacementGroup": self._show(group)})

    def describe_placement_groups(self, body: Body) -> Body:
        request = read("DescribePlacementGroups", body)
        with self._lifecycle.lock:
            found = self._groups.find(request.get("GroupNames", []))
        wanted = request.get("GroupIds")
        shown = [
            self._show(each)
            for each in found
            if (not wanted or each.id in wanted) and matches(self._facts(each), request)
        ]
        return written("DescribePlacementGroups", {"PlacementGroups": shown})

    def delete_placement_group(self, body: Body) -> Body:
        request = read("DeletePlacementGroup", body)
        with self._lifecycle.lock:
            gone = self._groups.delete(request["GroupName"], self._lifecycle.in_region(self._region))
            self._store.remove([gone.id])
        return {"return": "true"}

    def _show(self, group: PlacementGroup) -> Body:
        arn = self._site.arn("ec2", self._region, f"placement-group/{group.name}")
        return show(group, arn, self._store.tags(group.id))

    def _facts(self, group: PlacementGroup) -> dict[str, list[str]]:
        tags = self._store.tags(group.id)
        return {
            "group-name": [group.name],
            "state": ["available"],
            "strategy": [group.strategy],
            "tag-key": list(tags),
            **{f"tag:{key}": [value] for key, value in tags.items()},
        }

    # Tags

    def create_tags(self, body: Body) -> Body:
        request = read("CreateTags", body)
        tags = {tag["Key"]: tag.get("Value", "") for tag in request["Tags"]}
        self._check_there(request["Resources"])
        for name in request["Resources"]:
            instance = self._lifecycle.instances.get(name)
            if instance and instance.reservation.metadata["InstanceMetadataTags"] == "enabled":
                check_shown(tags)
        self._store.tag(request["Resources"], tags)
        return {"return": "true"}

    def delete_tags(self, body: Body) -> Body:
        request = read("DeleteTags", body)
        self._check_there(request["Resources"])
        named = {tag["Key"]: tag.get("Value") for tag in request.get("Tags", ())}
        for name in request["Resources"]:
            self._store.untag([name], named or dict.fromkeys(self._store.tags(name)))
        return {"return": "true"}

    def describe_tags(self, body: Body) -> Body:
        request = read("DescribeTags", body)
        found = [
            {"ResourceId": resource, "ResourceType": kind, "Key": key, "Value": value}
            for resource, key, value in self._store.all_tags()
            for kind in [RESOURCE_TYPES.get(resource.rpartition("-")[0], resource.rpartition("-")[0])]
            if matches(
                {
                    "resource-id": [resource],
                    "resource-type": [kind],
                    "key": [key],
                    "value": [value],
                    f"tag:{key}": [value],
                },
                request,
            )
        ]
        shown, token = page(found, request)
        return written("DescribeTags", {"Tags": shown, "NextToken": token})

    def _check_there(self, resources: list[str]) -> None:
        """Raise AwsError for a resource that is neither ours nor moto's."""
        with self._lifecycle.lock:
            ours = [name for name in resources if self._is_ours(name)]
        others = [name for name in resources if name not in ours]
        for name in others:
            if code := _OURS.get(name.rpartition("-")[0]):
                raise AwsError(code, f"The ID '{name}' does not exist")
        self._store.check_exist(others)

    def _is_ours(self, name: str) -> bool:
        known = (self._lifecycle.instances, self._lifecycle.spot_requests)
        return any(name in each for each in known) or self._groups.has_id(name)

    # What would not run here, and nobody is to think that it does

    def _refuse(self, body: Body) -> Body:
        raise AwsError(
            "UnsupportedOperation",
            f"the local cloud does not support ec2 {body['Action']}: instances come by RunInstances, "
            "and go by TerminateInstances",
        )

    stop_instances = start_instances = reboot_instances = _refuse
    create_fleet = request_spot_instances = request_spot_fleet = _refuse
    modify_instance_attribute = modify_instance_metadata_options = _refuse
