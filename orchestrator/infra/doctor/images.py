"""Are the images where they are pulled?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.account.ecr import Ecr, Image
from orchestrator.errors import NotFound
from orchestrator.platforms.account.finding import DEPLOY, Finding, ok, warning, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.infra.doctor.subject import Subject


def images(subject: Subject) -> Iterator[Finding]:
    """Yield whether launcher's and conductor's images are in the control Region, the sweep's own where it trains."""
    names = subject.names
    yield _image(subject, names.launcher_image, names.region, is_launcher=True)
    if subject.has_nights:
        yield _conductor(subject)
    for region, uri in subject.need.images.items():
        yield _image(subject, uri, region, is_launcher=False)


def _conductor(subject: Subject) -> Finding:
    """Return whether the image that nights run is in the control Region."""
    region = subject.names.region
    if subject.settings.conductor_image:
        return _image(subject, subject.settings.conductor_image, region, is_launcher=False)
    build = "docker build --file containers/conductor/Dockerfile --tag sweep-conductor:1 ."
    message = "is not set, and nights run in it: build it, push it, and name it in sweep.toml"
    return wrong("image", "conductor_image", message, f"{build} && sweep images push sweep-conductor:1 --to {region}")


def _image(subject: Subject, uri: str, region: str, *, is_launcher: bool) -> Finding:
    uri = uri.replace("{account}", subject.names.account).replace("{region}", region)
    image = Image.parse(uri)
    if image is None:
        return warning("image", uri, "is in no ECR: whether it is there shows when it is pulled")
    if image.account != subject.names.account:
        return ok("image", uri, "of another account: taken as it is written")
    if image.region != region:
        return warning("image", uri, f"lies in {image.region}, and is pulled from {region}: that is slow, and billed")
    try:
        found = Ecr(subject.clients, region).pin(image)
    except NotFound:
        name = f"{image.repository}:{image.tag}"
        is_ours = is_launcher and "launcher_image" not in subject.names.theirs
        mend = DEPLOY if is_ours else f"sweep images push {name} --to {region}"
        return wrong("image", uri, "not there", mend)
    return ok("image", uri, f"there: {found.digest[:19]}")
