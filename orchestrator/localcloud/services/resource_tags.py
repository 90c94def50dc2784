"""The tags of whatever Batch, SageMaker and EC2 have, by ARN, for conditions of policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.localcloud.http.answers import AwsError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.localcloud.services.batch.api import Batch
    from orchestrator.localcloud.services.ec2.service import Compute
    from orchestrator.localcloud.services.sagemaker.api import Trainings


class ResourceTags:
    """Finds tags. It is there before the services are, which tell it of themselves."""

    def __init__(self) -> None:
        self._batch: Mapping[str, Batch] = {}
        self._trainings: Mapping[str, Trainings] = {}
        self._compute: Compute | None = None

    def learn(self, batch: Mapping[str, Batch], trainings: Mapping[str, Trainings], compute: Compute) -> None:
        """Take the services by their Regions."""
        self._batch, self._trainings, self._compute = batch, trainings, compute

    def of(self, arn: str) -> Mapping[str, str]:
        """Return the tags of what an ARN names; none where there is no such thing, or where it is not known."""
        _, _, service, region, *rest = arn.split(":", 5)
        if service == "batch" and region in self._batch:
            try:
                found: Mapping[str, str] = self._batch[region].list_tags_for_resource({"resourceArn": arn})["tags"]
                return found
            except AwsError:
                return {}
        if service == "sagemaker" and region in self._trainings:
            training = self._trainings[region].jobs.get(rest[-1].rpartition("/")[2])
            return training.tags if training else {}
        if service == "ec2" and self._compute:
            return self._compute.tags(region, rest[-1])
        return {}
