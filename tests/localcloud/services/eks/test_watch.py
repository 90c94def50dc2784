"""Watching, in the local cloud's small Kubernetes API. What is expected is what Kubernetes' own pages say:

kubernetes.io/docs/reference/using-api/api-concepts ("Efficient detection of changes", "Watch bookmarks",
    "Streaming lists", "Retrieving large results sets in chunks", "410 Gone responses")
kubernetes.io/docs/reference/kubernetes-api/common-parameters/common-parameters (each parameter)
kubernetes.io/docs/reference/access-authn-authz/authorization ("Determine the request verb")
kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.localcloud.conftest import eventually
from tests.localcloud.services.eks.kube import JOBS, NAMESPACE, Kube, condition, make_job, make_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.localcloud import LocalCloud

REGION = "us-west-2"
SERVICES = f"{NAMESPACE}/services"
VIEW = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"
HANG = "trap 'exit 5' TERM; while :; do sleep 0.05; done"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@pytest.fixture
def kube(cloud: LocalCloud, client: Callable[..., Any]) -> Kube:
    keys = (cloud.environment["AWS_ACCESS_KEY_ID"], cloud.environment["AWS_SECRET_ACCESS_KEY"])
    return Kube(client("eks", REGION).describe_cluster(name="sweep")["cluster"], make_token(*keys, REGION))


def make_service(kube: Kube, name: str) -> Any:
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"clusterIP": "None"}}
    made = kube.ask("POST", SERVICES, body)
    assert made.status == 201, made.body
    return made.body


def make_waiting_job(kube: Kube, name: str, labels: dict[str, str]) -> Any:
    made = kube.ask("POST", JOBS, make_job(name, "true", suspend=True, metadata={"labels": labels}))
    assert made.status == 201, made.body
    return made.body


def version(kube: Kube, path: str) -> str:
    return str(kube.ask("GET", path).body["metadata"]["resourceVersion"])


def told(event: Any) -> tuple[str, str]:
    return event["type"], event["object"]["metadata"]["name"]


def names(events: list[Any]) -> list[tuple[str, str]]:
    return [told(event) for event in events]


def by_uid(items: list[Any]) -> dict[str, Any]:
    return {item["metadata"]["uid"]: item for item in items}


def apply(items: list[Any], events: list[Any]) -> dict[str, Any]:
    """Return the objects that there are after some events, as a client keeps count of them."""
    found = by_uid(items)
    for event in events:
        uid = event["object"]["metadata"]["uid"]
        assert (event["type"] == "ADDED") == (uid not in found)
        found[uid] = event["object"]
        if event["type"] == "DELETED":
            del found[uid]
    return found


# What is told


def test_all_that_happens_after_a_list_is_told_while_it_happens(kube: Kube, name: str) -> None:
    make_service(kube, f"{name}-before")
    with kube.watch(SERVICES, resourceVersion=version(kube, SERVICES), fieldSelector="spec.clusterIP=None") as events:
        made = make_service(kube, name)
        first = next(events)
        assert (told(first), first["object"]) == (("ADDED", name), made)
        kube.ask("DELETE", f"{SERVICES}/{name}")
        last = next(events)
    assert told(last) == ("DELETED", name)
    assert last["object"]["metadata"]["uid"] == made["metadata"]["uid"]
    assert last["object"]["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]


@pytest.mark.parametrize("query", [{}, {"resourceVersion": ""}, {"resourceVersion": "0"}])
def test_what_is_there_is_told_first_to_who_names_no_version(kube: Kube, name: str, query: dict[str, str]) -> None:
    made = make_service(kube, name)
    with kube.watch(SERVICES, fieldSelector=f"metadata.name={name}", **query) as events:
        assert next(events) == {"type": "ADDED", "object": made}
        kube.ask("DELETE", f"{SERVICES}/{name}")
        assert told(next(events)) == ("DELETED", name)


def test_a_changed_object_is_told_with_the_version_that_a_get_shows(kube: Kube, name: str) -> None:
    make_waiting_job(kube, name, {})
    with kube.watch(JOBS, resourceVersion=version(kube, JOBS), fieldSelector=f"metadata.name={name}") as events:
        kube.ask("PATCH", f"{JOBS}/{name}", {"metadata": {"labels": {"step": "2"}}}, patch=True)
        assert next(events) == {"type": "MODIFIED", "object": kube.job(name)}
        kube.ask("PATCH", f"{JOBS}/{name}", {"metadata": {"labels": {"step": "2"}}}, patch=True)  # changes nothing
        kube.ask("DELETE", f"{JOBS}/{name}")
        assert told(next(events)) == ("DELETED", name)


def test_who_watches_labels_hears_of_what_gets_and_loses_them(kube: Kube, name: str) -> None:
    """For who selects, what comes to be selected is ADDED, and what is selected no more is DELETED."""
    start = version(kube, JOBS)
    make_waiting_job(kube, name, {"team": name})
    make_waiting_job(kube, f"{name}-other", {})
    for team in ("nobody", name):
        kube.ask("PATCH", f"{JOBS}/{name}", {"metadata": {"labels": {"team": team}}}, patch=True)
    kube.ask("PATCH", f"{JOBS}/{name}", {"metadata": {"annotations": {"seen": "yes"}}}, patch=True)
    kube.ask("DELETE", f"{JOBS}/{name}-other")
    kube.ask("DELETE", f"{JOBS}/{name}")
    events = kube.watch_to_end(JOBS, resourceVersion=start, labelSelector=f"team={name}")
    kinds = [event["type"] for event in events if event["type"] != "MODIFIED"]
    assert kinds == ["ADDED", "DELETED", "ADDED", "DELETED"]
    assert {event["object"]["metadata"]["name"] for event in events} == {name}
    assert all(event["object"]["metadata"]["labels"]["team"] == name for event in events)
    assert events[-2]["object"]["metadata"]["annotations"]["seen"] == "yes"
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
    assert versions == sorted(set(versions))


def test_a_field_selector_may_say_what_is_not_meant(kube: Kube, name: str) -> None:
    start = version(kube, SERVICES)
    for each in (f"{name}-1", f"{name}-2"):
        make_service(kube, each)
    events = kube.watch_to_end(SERVICES, resourceVersion=start, fieldSelector=f"metadata.name!={name}-1")
    assert names(events) == [("ADDED", f"{name}-2")]


def test_a_watch_of_all_namespaces_sees_what_one_of_another_does_not(kube: Kube, name: str) -> None:
    start = version(kube, "/api/v1/services")
    make_service(kube, name)
    assert names(kube.watch_to_end("/api/v1/services", resourceVersion=start)) == [("ADDED", name)]
    assert kube.watch_to_end("/api/v1/namespaces/default/services", resourceVersion=start) == []


def test_a_list_and_what_is_watched_after_it_are_the_next_list(cloud: LocalCloud, kube: Kube, name: str) -> None:
    """Whatever befalls Jobs, pods and nodes: nothing changes that a watcher is not told."""
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": {"pods": "99"}}}
    assert kube.ask("POST", f"{NAMESPACE}/resourcequotas", quota).status == 201
    kinds = (JOBS, "/api/v1/nodes", *(f"{NAMESPACE}/{plural}" for plural in ("pods", "events", "resourcequotas")))
    before = {path: kube.ask("GET", path).body for path in kinds}
    watched: list[tuple[str, Any, Iterator[Any]]] = []
    spot = {"nodeSelector": {"eks.amazonaws.com/capacityType": "SPOT"}}
    for script in ("true", "exit 3", HANG):
        job = make_job(f"{name}-{len(script)}", script, 2, backoffLimit=1, pod=spot)
        assert kube.ask("POST", JOBS, job).status == 201
    hangs = f"{name}-{len(HANG)}"

    def runs() -> bool:
        return [pod["status"]["phase"] for pod in kube.pods(hangs)].count("Running") == 2

    eventually(runs)
    cloud.steering.add("evict", kube.pods(hangs)[0]["metadata"]["name"])
    eventually(runs)
    cloud.steering.add("reclaim", hangs)
    for script in ("true", "exit 3", HANG):
        ended = f"{name}-{len(script)}"
        eventually(lambda ended=ended: condition(kube.job(ended), "Complete") or condition(kube.job(ended), "Failed"))
    kube.ask("DELETE", f"{JOBS}/{hangs}", {"propagationPolicy": "Background"})
    with ExitStack() as stack:
        for path, listed in before.items():
            after = kube.ask("GET", path).body
            query = {"resourceVersion": listed["metadata"]["resourceVersion"], "timeoutSeconds": 1}
            watched.append((path, after, stack.enter_context(kube.watch(path, **query))))
        for path, after, events in watched:
            latest = int(after["metadata"]["resourceVersion"])
            seen = [each for each in events if int(each["object"]["metadata"]["resourceVersion"]) <= latest]
            assert seen, path
            assert apply(before[path]["items"], seen) == by_uid(after["items"]), path
    assert kube.ask("DELETE", f"{NAMESPACE}/resourcequotas/{name}").status == 200


# How long, and how far


def test_bookmarks_tell_who_wants_them_how_far_they_are(cloud: LocalCloud, kube: Kube, name: str) -> None:
    query = {"resourceVersion": version(kube, SERVICES), "fieldSelector": f"metadata.name={name}"}
    assert kube.watch_to_end(SERVICES, **query) == []
    with kube.watch(SERVICES, allowWatchBookmarks="true", **query) as events:
        make_service(kube, f"{name}-other")
        cloud.advance(61)
        mark = next(events)
    assert (mark["type"], mark["object"]["kind"], mark["object"]["apiVersion"]) == ("BOOKMARK", "Service", "v1")
    latest = mark["object"]["metadata"]["resourceVersion"]
    assert int(latest) >= int(query["resourceVersion"])
    make_service(kube, name)
    assert names(kube.watch_to_end(SERVICES, **query | {"resourceVersion": latest})) == [("ADDED", name)]


def test_a_streaming_list_says_when_all_has_been_told(kube: Kube, name: str) -> None:
    make_service(kube, name)
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    with kube.watch(SERVICES, fieldSelector=f"metadata.name={name}", resourceVersion="1", **query) as events:
        assert told(next(events)) == ("ADDED", name)
        mark = next(events)
        assert mark["type"] == "BOOKMARK"
        assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        kube.ask("DELETE", f"{SERVICES}/{name}")
        assert told(next(events)) == ("DELETED", name)


def test_pages_show_what_there_was_at_the_first_and_lead_to_one_watch(kube: Kube, name: str) -> None:
    for number in (1, 2, 3):
        make_waiting_job(kube, f"{name}-{number}", {"of": name})
    path = f"{JOBS}?labelSelector=of={name}&limit=2"
    first = kube.ask("GET", path).body
    kube.ask("DELETE", f"{JOBS}/{name}-1")
    kube.ask("DELETE", f"{JOBS}/{name}-3")
    make_waiting_job(kube, f"{name}-4", {"of": name})
    second = kube.ask("GET", f"{path}&continue={first['metadata']['continue']}").body
    shown = [item["metadata"]["name"] for page in (first, second) for item in page["items"]]
    assert shown == [f"{name}-1", f"{name}-2", f"{name}-3"]
    assert "continue" not in second["metadata"]
    start = second["metadata"]["resourceVersion"]
    assert start == first["metadata"]["resourceVersion"]
    events = kube.watch_to_end(JOBS, resourceVersion=start, labelSelector=f"of={name}")
    ends = [each for each in names(events) if each[0] != "MODIFIED"]
    assert ends == [("DELETED", f"{name}-1"), ("DELETED", f"{name}-3"), ("ADDED", f"{name}-4")]


# Who asks for what


@pytest.mark.parametrize(
    ("query", "status", "why"),
    [
        ("watch=1&resourceVersion=x", 422, "resourceVersion: Invalid value"),
        ("watch=1&timeoutSeconds=soon", 400, "timeoutSeconds: Invalid value"),
        ("watch=1&sendInitialEvents=true", 422, "resourceVersionMatch: Forbidden"),
        ("watch=1&resourceVersionMatch=Exact", 422, "resourceVersionMatch: Forbidden"),
        ("continue=x", 400, "continue key is not valid"),
    ],
)
def test_what_cannot_be_told_is_refused_before_anything_is(kube: Kube, query: str, status: int, why: str) -> None:
    answer = kube.ask("GET", f"{SERVICES}?{query}")
    assert (answer.status, answer.body["kind"]) == (status, "Status")
    assert why in answer.body["message"]


@pytest.mark.parametrize("query", ["watch=false", "watch=0"])
def test_a_watch_that_is_off_is_a_list(kube: Kube, query: str) -> None:
    assert kube.ask("GET", f"{SERVICES}?{query}").body["kind"] == "ServiceList"


def test_watching_is_a_verb_of_its_own(cloud: LocalCloud, client: Callable[..., Any], kube: Kube, name: str) -> None:
    eks, iam = client("eks", REGION), client("iam")
    iam.create_user(UserName=name)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    arn = iam.get_user(UserName=name)["User"]["Arn"]
    kube.token = make_token(key["AccessKeyId"], key["SecretAccessKey"], REGION)
    assert kube.ask("GET", f"{SERVICES}?watch=1").status == 401
    eks.create_access_entry(clusterName="sweep", principalArn=arn)
    for query, verb in (("watch=true", "watch"), ("", "list")):
        refused = kube.ask("GET", f"{SERVICES}?{query}")
        what = f'cannot {verb} resource "services" in API group "" in the namespace "sweep"'
        assert (refused.status, refused.body["message"]) == (403, f'services is forbidden: User "{arn}" {what}')
    eks.associate_access_policy(
        clusterName="sweep",
        principalArn=arn,
        policyArn=VIEW,
        accessScope={"type": "namespace", "namespaces": ["sweep"]},
    )
    assert kube.watch_to_end(SERVICES, resourceVersion=version(kube, SERVICES)) == []
    assert kube.ask("GET", "/api/v1/services?watch=1").status == 403
    about = {"verb": "watch", "resource": "services", "namespace": "sweep"}
    review = kube.ask("POST", REVIEWS, {"spec": {"resourceAttributes": about}}).body
    assert review["status"] == {"allowed": True}
    with cloud.fault("deny", "kubernetes:WatchServices"):
        assert kube.ask("GET", f"{SERVICES}?watch=1").status == 403
        assert kube.ask("GET", SERVICES).status == 200


def test_an_unknown_namespace_is_not_found(kube: Kube) -> None:
    assert kube.ask("GET", "/api/v1/namespaces/nowhere/pods?watch=1").status == 404
