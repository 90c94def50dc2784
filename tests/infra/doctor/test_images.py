"""Images are looked for where they are pulled."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from orchestrator.infra.doctor import images
from tests.infra.doctor.account import REGION

if TYPE_CHECKING:
    from orchestrator.infra.doctor.subject import Subject


MANIFEST = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "layers": []})


def test_an_image_is_looked_for_where_it_is_pulled(subject: Subject) -> None:
    (missing,) = images.images(subject)
    assert (missing.state, missing.mend[-len(REGION) :]) == ("wrong", REGION)
    ecr = subject.clients.client("ecr", REGION)
    ecr.create_repository(repositoryName="our-launcher")
    ecr.put_image(repositoryName="our-launcher", imageTag="1", imageManifest=MANIFEST)
    (there,) = images.images(subject)
    assert there.state == "ok"
