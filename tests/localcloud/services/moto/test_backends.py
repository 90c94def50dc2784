"""All that we use of moto. When a new version moves any of it, this fails before anything else, and says what."""

from __future__ import annotations

import importlib.metadata
import re
import time
from pathlib import Path

from moto.ec2.models import ec2_backends
from moto.ecr.models import ecr_backends
from moto.events.models import events_backends
from moto.logs.models import logs_backends
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler
from moto.s3.models import FakeKey, S3Backend
from moto.s3.utils import _VersionedKeyStore
from moto.scheduler.models import scheduler_backends
from moto.ssm.models import ssm_backends

from orchestrator.localcloud import names as shared
from orchestrator.localcloud.services.ec2.images import PREFIX, add_deep_learning_images
from orchestrator.localcloud.services.moto import backends as moto_backends
from orchestrator.localcloud.services.moto import ec2 as moto_ec2
from orchestrator.localcloud.services.moto import images as moto_images

LOCAL_CLOUD = Path(moto_backends.__file__).parents[2]


def test_moto_is_the_version_that_this_was_written_for() -> None:
    assert importlib.metadata.version("moto") == "5.2.5"


def test_moto_is_touched_in_one_room() -> None:
    imports_moto = re.compile(r"^\s*(from|import) moto\b", re.MULTILINE)
    touching = {file.parent for file in LOCAL_CLOUD.rglob("*.py") if imports_moto.search(file.read_text())}
    assert touching == {LOCAL_CLOUD / "services" / "moto"}


def test_the_account_is_the_one_that_our_arns_name() -> None:
    assert f":{moto_backends.ACCOUNT}:" in shared.environment(shared.Access("", "", ""), ["us-east-1"])["SWEEP_ROLE"]


def test_a_listing_leaves_out_what_is_deleted_while_it_is_made() -> None:
    store = _VersionedKeyStore()
    for name in "abc":
        store[name] = FakeKey(name, b"", moto_backends.ACCOUNT, "eu-west-1")
    names, keys = iter(store.items()), iter(store.values())
    assert (next(names)[0], next(keys).name) == ("a", "a")
    store.pop("b")
    assert [name for name, _ in names] == ["c"]
    assert [key.name for key in keys] == ["c"]


def test_objects_are_written_listed_and_read() -> None:
    objects = moto_backends.Objects()
    objects.create_bucket("contract-bucket", "eu-west-1")
    objects.write("contract-bucket", "a/b", b"one")
    objects.write("contract-bucket", "a/b", b"two")
    assert objects.region("contract-bucket") == "eu-west-1"
    assert objects.region("no-such-bucket") is None
    assert objects.keys("contract-bucket", "a/") == ["a/b"]
    assert objects.read("contract-bucket", "a/b") == b"two"
    assert isinstance(objects._backend, S3Backend)


def test_lines_are_put_into_a_stream() -> None:
    streams = moto_backends.LogStreams()
    streams.create("eu-west-1", "/group", "stream")
    streams.create("eu-west-1", "/group", "stream")
    tomorrow = int((time.time() + 86_400) * 1000)
    streams.put("eu-west-1", "/group", "stream", tomorrow, ["one", "two"])
    kept = logs_backends[moto_backends.ACCOUNT]["eu-west-1"].groups["/group"].streams["stream"].events
    assert [(event.timestamp, event.message) for event in kept] == [(tomorrow, "one"), (tomorrow, "two")]


def test_a_role_has_an_arn() -> None:
    assert moto_backends.create_role("contract-role", "batch.amazonaws.com").endswith(":role/contract-role")


def test_the_server_is_motos_own() -> None:
    assert isinstance(moto_backends.application(), DomainDispatcherApplication)
    assert hasattr(MotoRequestHandler, "make_environ")


def test_rules_and_schedules_are_where_we_look_for_them() -> None:
    bus = events_backends[moto_backends.ACCOUNT]["eu-west-1"]
    assert not moto_backends.Rules().any_in("eu-west-1")
    bus.put_rule("contract", event_pattern='{"source": ["aws.batch"]}', state="ENABLED")
    assert moto_backends.Rules().any_in("eu-west-1")
    moto_backends.Rules().send("eu-west-1", {"source": "aws.batch", "time": 0.0, "detail": {}})
    assert moto_backends.ScheduleStore().all("eu-west-1") == []
    group = scheduler_backends[moto_backends.ACCOUNT]["eu-west-1"]
    group.create_schedule(
        "", None, {}, "default", None, "nightly", "rate(1 day)", None, None, None, {"Arn": "a"}, "DELETE"
    )
    (found,) = moto_backends.ScheduleStore().all("eu-west-1")
    assert (found.name, found.expression, found.zone, found.enabled) == ("nightly", "rate(1 day)", "UTC", True)
    assert (found.target["Arn"], found.delete_after) == ("a", True)
    moto_backends.ScheduleStore().delete(found)
    assert moto_backends.ScheduleStore().all("eu-west-1") == []


def test_subnets_and_security_groups_are_where_we_look_for_them() -> None:
    backend = ec2_backends[moto_backends.ACCOUNT]["eu-west-1"]
    subnet = next(subnet for zone in backend.subnets.values() for subnet in zone.values())
    group = backend.get_default_security_group(subnet.vpc_id)
    networks = moto_backends.Networks()
    assert networks.vpc_of("eu-west-1", subnet.id) == networks.vpc_of("eu-west-1", group.id) == subnet.vpc_id
    assert networks.vpc_of("us-west-2", subnet.id) is None
    assert networks.vpc_of("us-west-2", group.id) is None


def test_repositories_are_where_we_look_for_them() -> None:
    repositories = moto_images.Repositories()
    assert not repositories.has("contract")
    ecr_backends[moto_backends.ACCOUNT]["eu-west-1"].create_repository(
        "contract", "123456789012", None, None, None, None
    )
    assert repositories.has("contract")


def test_the_secrets_of_its_keys_are_found_while_the_keys_are_active() -> None:
    from moto.iam.models import iam_backends

    backend = iam_backends[moto_backends.ACCOUNT][moto_backends.PARTITION]
    backend.create_user(moto_backends.ACCOUNT, "partner", path="/")
    made = backend.create_access_key("partner")
    assert moto_backends.secret_of(made.access_key_id) == made.secret_access_key
    made.status = "Inactive"
    assert moto_backends.secret_of(made.access_key_id) is None
    assert moto_backends.secret_of("AKIANOBODY") is None


def test_an_instance_brings_volumes_and_interfaces_along_that_moto_lists() -> None:
    backend = ec2_backends[moto_backends.ACCOUNT]["eu-west-1"]
    store, holder = moto_ec2.Ec2Store("eu-west-1"), moto_ec2.Holder("i-1")
    subnet = store.default_subnets()[0]
    group = store.default_security_group(subnet.vpc)
    assert store.security_group(group) == (subnet.vpc, "default")
    interface = store.add_interface(subnet.id, "127.1.2.3", [group], holder, 0)
    volume, _ = store.add_volume(9, "gp3", subnet.zone, holder, "/dev/sda1")
    assert (interface.attachment.instance_id, interface.private_ip_address) == ("i-1", "127.1.2.3")
    assert backend.volumes[volume].attachment.instance_id == "i-1"
    store.tag([volume, "i-1"], {"a": "b"})
    assert {(volume, "a", "b"), ("i-1", "a", "b")} <= set(store.all_tags())
    store.remove([volume, interface.id, "i-1"])
    assert volume not in backend.volumes
    assert interface.id not in backend.enis
    assert store.tags("i-1") == {}


def test_an_image_is_added_with_the_parameter_that_names_it() -> None:
    store = moto_ec2.Ec2Store("eu-west-1")
    add_deep_learning_images(store, "eu-west-1")
    add_deep_learning_images(store, "eu-west-1")
    path = f"{PREFIX}arm64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"
    (parameter,) = ssm_backends[moto_backends.ACCOUNT]["eu-west-1"]._parameters[path]
    assert store.image(parameter.value) == moto_ec2.Image(parameter.value, "arm64", "/dev/sda1")
