"""ECR, where the local cloud is kinder than AWS: nothing runs from an image here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable


def test_an_image_that_nobody_has_pushed_anywhere_is_taken_to_be_everywhere(
    client: Callable[..., Any], name: str
) -> None:
    asked = {"repositoryName": name, "imageIds": [{"imageTag": "1"}]}
    digests = {
        client("ecr", region).batch_get_image(**asked)["images"][0]["imageId"]["imageDigest"]
        for region in ("us-east-1", "eu-west-1")
    }
    assert len(digests) == 1


def test_once_it_is_in_one_region_it_is_only_there(client: Callable[..., Any], name: str) -> None:
    client("ecr", "us-east-1").create_repository(repositoryName=name)
    asked = {"repositoryName": name, "imageIds": [{"imageTag": "1"}]}
    (failure,) = client("ecr", "us-east-1").batch_get_image(**asked)["failures"]
    assert failure["failureCode"] == "ImageNotFound"
    with pytest.raises(ClientError, match="RepositoryNotFoundException"):
        client("ecr", "eu-west-1").batch_get_image(**asked)
