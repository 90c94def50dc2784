"""The small Kubernetes API of the local cloud's EKS. What is expected is what Kubernetes' own pages say:

kubernetes.io/docs/concepts/workloads/controllers/job
kubernetes.io/docs/tasks/job/pod-failure-policy
kubernetes.io/docs/reference/using-api/api-concepts
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.localcloud.conftest import eventually
from tests.localcloud.services.eks.kube import JOBS, NAMESPACE, Kube, condition, make_job, make_token

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud

REGION = "eu-west-1"
DISRUPTION = {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
HANG = "trap 'echo asked; exit 5' TERM; echo ready; while :; do sleep 0.05; done"


@pytest.fixture
def kube(cloud: LocalCloud, client: Callable[..., Any]) -> Kube:
    keys = (cloud.environment["AWS_ACCESS_KEY_ID"], cloud.environment["AWS_SECRET_ACCESS_KEY"])
    return Kube(client("eks", REGION).describe_cluster(name="sweep")["cluster"], make_token(*keys, REGION))


def start(kube: Kube, job: dict[str, Any]) -> str:
    made = kube.ask("POST", JOBS, job)
    assert made.status == 201, made.body
    return str(job["metadata"]["name"])


def end(kube: Kube, name: str) -> tuple[str, str]:
    """Return how a Job has ended, and why."""

    def look() -> Any:
        job = kube.job(name)
        return condition(job, "Complete") or condition(job, "Failed")

    found = eventually(look)
    return found["type"], found["reason"]


def running(kube: Kube, name: str, pods: int = 1) -> list[Any]:
    """Return a Job's pods once so many of them have said that they are ready."""

    def look() -> Any:
        found = [pod for pod in kube.pods(name) if pod["status"]["phase"] == "Running"]
        return len(found) == pods and all("ready" in kube.log(pod["metadata"]["name"]) for pod in found) and found

    found: list[Any] = eventually(look)
    return found


# A Job's life


def test_the_pods_of_a_job_have_indexes_and_find_each_other_by_name(kube: Kube, name: str) -> None:
    script = f"echo $JOB_COMPLETION_INDEX at $(hostname); until getent hosts {name}-1.t-{name}; do sleep 0.05; done"
    start(kube, make_job(name, script, 2))
    assert end(kube, name) == ("Complete", "CompletionsReached")
    job = kube.job(name)
    assert (job["status"]["succeeded"], job["status"]["completedIndexes"]) == (2, "0-1")
    assert "active" not in job["status"]
    first = next(pod for pod in kube.pods(name) if pod["spec"]["hostname"] == f"{name}-0")
    log = kube.log(first["metadata"]["name"])
    assert f"0 at {name}-0" in log
    assert f"{name}-1.t-{name}" in log
    assert first["status"]["containerStatuses"][0]["state"]["terminated"]["reason"] == "Completed"


def test_a_failed_pod_fails_a_job_that_allows_for_no_failures(kube: Kube, name: str) -> None:
    start(kube, make_job(name, "exit 3"))
    assert end(kube, name) == ("Failed", "BackoffLimitExceeded")
    (pod,) = kube.pods(name)
    assert pod["status"]["phase"] == "Failed"
    assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 3


def test_a_failed_pod_is_made_again_as_often_as_the_job_allows(kube: Kube, name: str) -> None:
    start(kube, make_job(name, "exit 1", backoffLimit=2))
    assert end(kube, name) == ("Failed", "BackoffLimitExceeded")
    assert (kube.job(name)["status"]["failed"], len(kube.pods(name))) == (3, 3)


def test_an_exit_code_may_fail_its_index_alone(kube: Kube, name: str) -> None:
    rule = {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [42]}}
    script = 'test "$JOB_COMPLETION_INDEX" = 1 && exit 42; exit 0'
    start(kube, make_job(name, script, 3, backoffLimitPerIndex=1, podFailurePolicy={"rules": [rule]}))
    assert end(kube, name) == ("Failed", "FailedIndexes")
    status = kube.job(name)["status"]
    assert (status["completedIndexes"], status["failedIndexes"]) == ("0,2", "1")


def test_a_job_that_takes_too_long_is_ended_by_a_signal(cloud: LocalCloud, kube: Kube, name: str) -> None:
    start(kube, make_job(name, HANG, activeDeadlineSeconds=3600))
    running(kube, name)
    cloud.advance(3600)
    assert end(kube, name) == ("Failed", "DeadlineExceeded")
    eventually(lambda: not kube.pods(name))


def test_a_deleted_job_takes_with_it_what_it_owns(kube: Kube, name: str) -> None:
    start(kube, make_job(name, HANG))
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": kube.job(name)["metadata"]["uid"]}
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": f"t-{name}", "ownerReferences": [owner]},
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"job-name": name}},
    }
    assert kube.ask("POST", f"{NAMESPACE}/services", service).status == 201
    running(kube, name)
    assert kube.ask("DELETE", f"{JOBS}/{name}", {"propagationPolicy": "Background"}).status == 200
    assert kube.ask("GET", f"{JOBS}/{name}").status == 404
    assert kube.ask("GET", f"{NAMESPACE}/services/t-{name}").status == 404
    eventually(lambda: not kube.pods(name))


def test_a_job_that_is_deleted_without_a_word_on_its_pods_leaves_them(kube: Kube, name: str) -> None:
    start(kube, make_job(name, HANG))
    (pod,) = running(kube, name)
    kube.ask("DELETE", f"{JOBS}/{name}")
    assert kube.ask("GET", f"{JOBS}/{name}").status == 404
    assert [one["metadata"]["uid"] for one in kube.pods(name)] == [pod["metadata"]["uid"]]
    kube.ask("DELETE", f"{NAMESPACE}/pods/{pod['metadata']['name']}")
    eventually(lambda: not kube.pods(name))


def test_a_suspended_job_has_no_pods_until_a_queue_lets_it_begin(kube: Kube, name: str) -> None:
    start(kube, make_job(name, "true", suspend=True))
    assert condition(kube.job(name), "Suspended")
    assert kube.pods(name) == []
    kube.ask("PATCH", f"{JOBS}/{name}", {"spec": {"suspend": False}}, patch=True)
    assert end(kube, name)[0] == "Complete"


def test_a_job_of_a_queue_waits_until_there_is_one_that_is_not_stopped(kube: Kube, name: str) -> None:
    queues = "/apis/kueue.x-k8s.io/v1beta2/namespaces/sweep/localqueues"
    queued = make_job(name, "true", metadata={"labels": {"kueue.x-k8s.io/queue-name": name}})
    made = kube.ask("POST", JOBS, queued)
    assert (made.status, made.body["spec"]["suspend"]) == (201, True)  # though it does not say so itself

    def waits() -> bool:
        return bool(condition(kube.job(name), "Suspended")) and kube.pods(name) == []

    assert waits()
    for spec in ({"stopPolicy": "Hold"}, {}):
        assert kube.ask("GET", f"{queues}/{name}").status == 404
        assert waits()
        queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": name}, "spec": spec}
        assert kube.ask("POST", queues, queue).status == 201
        found = kube.ask("GET", f"{queues}/{name}").body["status"]["conditions"][0]
        assert (found["type"], found["status"]) == ("Active", "False" if spec else "True")
        if spec:
            assert (found["message"], waits()) == ("LocalQueue is stopped", True)
            kube.ask("DELETE", f"{queues}/{name}")
    assert end(kube, name)[0] == "Complete"


def test_the_first_index_s_success_may_be_the_job_s_and_ends_the_others(kube: Kube, name: str) -> None:
    script = f'test "$JOB_COMPLETION_INDEX" = 0 && exit 0; {HANG}'
    start(kube, make_job(name, script, 2, successPolicy={"rules": [{"succeededIndexes": "0"}]}))
    assert end(kube, name) == ("Complete", "SuccessPolicy")


def test_an_indexed_job_grows_and_shrinks_while_it_runs(kube: Kube, name: str) -> None:
    start(kube, make_job(name, HANG))
    running(kube, name)
    for size in (2, 1):
        sizes = {"completions": size, "parallelism": size}
        assert kube.ask("PATCH", f"{JOBS}/{name}", {"spec": sizes}, patch=True).status == 200
        running(kube, name, size)
    alone = kube.ask("PATCH", f"{JOBS}/{name}", {"spec": {"completions": 3}}, patch=True)
    assert (alone.status, "in tandem with spec.parallelism" in alone.body["message"]) == (422, True)
    kube.ask("DELETE", f"{JOBS}/{name}", {"propagationPolicy": "Background"})


@pytest.mark.parametrize(
    ("operator", "values", "says"),
    [
        ("Is", ["a"], '"Is": not a valid selector operator'),
        ("In", [], "0 values are not what `In` takes"),
        ("Exists", ["a"], "1 values are not what `Exists` takes"),
        ("Gt", ["1", "2"], "2 values are not what `Gt` takes"),
    ],
)
def test_an_operator_of_a_node_selector_takes_its_number_of_values(
    kube: Kube, name: str, operator: str, values: list[str], says: str
) -> None:
    terms = [{"matchExpressions": [{"key": "zone", "operator": operator, "values": values}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    refused = kube.ask("POST", JOBS, make_job(name, "true", pod={"affinity": {"nodeAffinity": required}}))
    assert (refused.status, says in refused.body["message"]) == (422, True), refused.body


# Disruptions


def test_a_reclaimed_spot_node_ends_a_job_that_says_so_and_tells_why(cloud: LocalCloud, kube: Kube, name: str) -> None:
    spot = {"nodeSelector": {"eks.amazonaws.com/capacityType": "SPOT"}}
    start(kube, make_job(name, HANG, podFailurePolicy={"rules": [DISRUPTION]}, pod=spot))
    node = running(kube, name)[0]["spec"]["nodeName"]
    cloud.steering.add("reclaim", name)
    assert end(kube, name) == ("Failed", "PodFailurePolicy")
    assert (
        "has condition DisruptionTarget matching FailJob rule at index 0"
        in condition(kube.job(name), "Failed")["message"]
    )
    assert kube.ask("GET", f"/api/v1/nodes/{node}").status == 404
    nodes = kube.ask("GET", "/api/v1/nodes?labelSelector=eks.amazonaws.com/nodegroup=c5-xlarge-spot").body["items"]
    assert len(nodes) == 8  # another one has joined


def test_a_lost_pod_comes_back_where_disruptions_are_ignored(cloud: LocalCloud, kube: Kube, name: str) -> None:
    ignore = DISRUPTION | {"action": "Ignore"}
    start(kube, make_job(name, HANG, podFailurePolicy={"rules": [ignore]}))
    first = running(kube, name)[0]["metadata"]["uid"]
    cloud.steering.add("crash", name)
    assert eventually(lambda: [pod for pod in running(kube, name) if pod["metadata"]["uid"] != first])
    assert "failed" not in kube.job(name)["status"]
    kube.ask("DELETE", f"{JOBS}/{name}", {"propagationPolicy": "Background"})


@pytest.mark.parametrize(
    ("kind", "phase", "container", "pod"),
    [("kill", "Failed", "OOMKilled", None), ("evict", "Failed", "Error", "Evicted")],
)
def test_want_of_memory_is_told(
    cloud: LocalCloud, kube: Kube, name: str, kind: str, phase: str, container: str, pod: str | None
) -> None:
    start(kube, make_job(name, HANG))
    running(kube, name)
    cloud.steering.add(kind, name)
    assert end(kube, name)[0] == "Failed"
    (found,) = kube.pods(name)
    terminated = found["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (found["status"]["phase"], terminated["reason"], terminated["exitCode"]) == (phase, container, 137)
    assert found["status"].get("reason") == pod


# Where pods run


def test_pods_wait_for_nodes_with_as_many_devices_as_they_ask_for(kube: Kube, name: str) -> None:
    gpus = {"resources": {"limits": {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "4"}}}
    tolerations = {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}
    start(kube, make_job(name, HANG, 3, container=gpus, pod=tolerations))
    running(kube, name, 2)
    waits = next(pod for pod in kube.pods(name) if pod["status"]["phase"] == "Pending")
    scheduled = next(each for each in waits["status"]["conditions"] if each["type"] == "PodScheduled")
    assert (scheduled["status"], scheduled["reason"]) == ("False", "Unschedulable")
    assert "26 Insufficient nvidia.com/gpu" in scheduled["message"]
    assert any(event.startswith("FailedScheduling: 0/") for event in kube.events(waits["metadata"]["name"]))
    kube.ask("DELETE", f"{JOBS}/{name}", {"propagationPolicy": "Background"})


def test_a_taint_that_is_not_tolerated_keeps_pods_away(kube: Kube, name: str) -> None:
    start(kube, make_job(name, "true", pod={"nodeSelector": {"node.kubernetes.io/instance-type": "g5.xlarge"}}))
    (pod,) = kube.pods(name)
    assert "untolerated taint {nvidia.com/gpu: present}" in pod["status"]["conditions"][-1]["message"]
    kube.ask("DELETE", f"{JOBS}/{name}", {"propagationPolicy": "Background"})


def test_a_region_without_capacity_starts_nothing_until_it_has_some(cloud: LocalCloud, kube: Kube, name: str) -> None:
    spot = {"nodeSelector": {"eks.amazonaws.com/nodegroup": "c5-xlarge-spot"}}
    shortage = {"region": REGION, "instance_type": "c5.xlarge", "purchase": "spot", "seconds": 3600}
    with cloud.fault("capacity", **shortage):
        start(kube, make_job(name, "true", pod=spot))
        assert kube.pods(name)[0]["status"]["conditions"][0]["reason"] == "Unschedulable"
    assert end(kube, name)[0] == "Complete"


def test_an_image_that_was_never_pushed_cannot_be_pulled(kube: Kube, client: Callable[..., Any], name: str) -> None:
    client("ecr", REGION).create_repository(repositoryName=name)
    image = f"123456789012.dkr.ecr.{REGION}.amazonaws.com/{name}:1"
    start(kube, make_job(name, "true", container={"image": image}))
    waits = eventually(lambda: kube.pods(name)[0]["status"]["containerStatuses"][0]["state"]["waiting"])
    eventually(lambda: any("not found" in event for event in kube.events(kube.pods(name)[0]["metadata"]["name"])))
    waits = kube.pods(name)[0]["status"]["containerStatuses"][0]["state"]["waiting"]
    assert (waits["reason"], image in waits["message"]) == ("ImagePullBackOff", True)
    kube.ask("DELETE", f"{JOBS}/{name}", {"propagationPolicy": "Background"})


def test_volumes_that_stay_are_shared_by_whoever_claims_them(kube: Kube, name: str) -> None:
    volume = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]}
    mount = {"volumeMounts": [{"name": "data", "mountPath": "/fsx"}]}
    start(kube, make_job(name, "echo seven > /fsx/x", pod=volume, container=mount))
    assert f'persistentvolumeclaim "{name}" not found' in kube.pods(name)[0]["status"]["conditions"][0]["message"]
    kube.ask("DELETE", f"{JOBS}/{name}", {"propagationPolicy": "Background"})
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": {}}
    assert kube.ask("POST", f"{NAMESPACE}/persistentvolumeclaims", claim).status == 201
    assert (
        end(kube, start(kube, make_job(f"{name}-w", "echo seven > /fsx/x", pod=volume, container=mount)))[0]
        == "Complete"
    )
    reader = start(kube, make_job(f"{name}-r", "cat /fsx/x", pod=volume, container=mount))
    assert end(kube, reader)[0] == "Complete"
    assert kube.log(kube.pods(reader)[0]["metadata"]["name"]) == "seven\n"


# Refusals


def test_a_name_in_use_is_a_conflict_and_what_is_not_there_is_not_found(kube: Kube, name: str) -> None:
    start(kube, make_job(name, "true"))
    again = kube.ask("POST", JOBS, make_job(name, "false"))
    assert (again.status, again.body["reason"]) == (409, "AlreadyExists")
    assert again.body["message"] == f'jobs.batch "{name}" already exists'
    gone = kube.ask("GET", f"{JOBS}/{name}-2")
    assert (gone.status, gone.body["message"]) == (404, f'jobs.batch "{name}-2" not found')
    assert kube.ask("GET", "/apis/batch/v1/namespaces/nowhere/jobs").status == 404


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"podReplacementPolicy": "TerminatingOrFailed", "podFailurePolicy": {"rules": []}}, "podReplacementPolicy"),
        ({"completions": None}, "spec.completions: Required value"),
        ({"completions": -1}, "must be greater than or equal to 0"),
        ({"pod": {"restartPolicy": "Always"}}, "restartPolicy: Required value"),
        ({"container": {"image": ""}}, "image: Required value"),
        ({"container": {"resources": {"requests": {"cpu": "much"}}}}, "quantities must match"),
        ({"metadata": {"labels": {"a": "x" * 64}}}, "metadata.labels"),
        ({"metadata": {"name": "x" * 62}}, "must be no more than 63 characters"),
    ],
)
def test_a_job_that_cannot_be_is_invalid(kube: Kube, name: str, change: dict[str, Any], says: str) -> None:
    answer = kube.ask("POST", JOBS, make_job(name, "true", **change))
    assert (answer.status, answer.body["reason"], answer.body["code"]) == (422, "Invalid", 422)
    assert says in answer.body["message"]


def test_a_trial_is_answered_as_the_real_thing_and_makes_nothing(kube: Kube, name: str) -> None:
    answer = kube.ask("POST", f"{JOBS}?dryRun=All", make_job(name, "true"))
    assert (answer.status, answer.body["spec"]["podReplacementPolicy"]) == (201, "TerminatingOrFailed")
    assert kube.ask("GET", f"{JOBS}/{name}").status == 404
    assert kube.ask("POST", f"{JOBS}?dryRun=All", make_job(name, "true", completions=-1)).status == 422


def test_a_field_that_is_not_known_is_dropped_without_a_word(cloud: LocalCloud, kube: Kube, name: str) -> None:
    job = make_job(name, "true", podFailurePolicy={"rules": [DISRUPTION]}, unheardOf=1)
    with cloud.fault("forget", "spec.podFailurePolicy", region=REGION):
        made = kube.ask("POST", f"{JOBS}?dryRun=All", job)
        assert (made.status, "podFailurePolicy" in made.body["spec"]) == (201, False)
    made = kube.ask("POST", f"{JOBS}?dryRun=All", job)
    assert made.body["spec"]["podFailurePolicy"] == {"rules": [DISRUPTION]}
    assert "unheardOf" not in made.body["spec"]
    strict = kube.ask("POST", f"{JOBS}?dryRun=All&fieldValidation=Strict", job)
    assert (strict.status, strict.body["message"]) == (400, 'strict decoding error: unknown field "spec.unheardOf"')


def test_quotas_and_admission_refuse_in_words_of_their_own(cloud: LocalCloud, kube: Kube, name: str) -> None:
    path = f"/api/v1/namespaces/{name}"
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    assert kube.ask("POST", "/api/v1/namespaces", made).status == 201
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few"},
        "spec": {"hard": {"count/jobs.batch": "1"}},
    }
    assert kube.ask("POST", f"{path}/resourcequotas", quota).status == 201
    jobs = f"/apis/batch/v1/namespaces/{name}/jobs"
    assert kube.ask("POST", jobs, make_job("one", "true")).status == 201
    over = kube.ask("POST", jobs, make_job("two", "true"))
    words = "exceeded quota: few, requested: count/jobs.batch=1, used: count/jobs.batch=1, limited: count/jobs.batch=1"
    assert (over.status, over.body["message"]) == (403, f'jobs.batch "two" is forbidden: {words}')
    with cloud.fault("admission", "image is not signed", region=REGION):
        denied = kube.ask("POST", JOBS, make_job(name, "true"))
    assert (denied.status, "denied the request: image is not signed" in denied.body["message"]) == (403, True)


# Who asks


def test_only_a_token_that_a_known_key_has_signed_for_this_cluster_is_let_in(cloud: LocalCloud, kube: Kube) -> None:
    keys = (cloud.environment["AWS_ACCESS_KEY_ID"], cloud.environment["AWS_SECRET_ACCESS_KEY"])
    good = kube.token
    cases = (
        "",
        "k8s-aws-v1.x",
        make_token(keys[0], "guess", REGION),
        make_token(*keys, REGION, "other"),
        good[:-3] + "abc",
    )
    for kube.token in (*cases, make_token(*keys, "us-west-2")):
        answer = kube.ask("GET", JOBS)
        assert (answer.status, answer.body["message"]) == (401, "Unauthorized")
    kube.token = good
    assert kube.ask("GET", JOBS).status == 200


def test_an_access_entry_says_what_a_role_may_do_there(client: Callable[..., Any], kube: Kube, name: str) -> None:
    eks, iam = client("eks", REGION), client("iam")
    iam.create_user(UserName=name)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    arn = iam.get_user(UserName=name)["User"]["Arn"]
    kube.token = make_token(key["AccessKeyId"], key["SecretAccessKey"], REGION)
    assert kube.ask("GET", JOBS).status == 401
    eks.create_access_entry(clusterName="sweep", principalArn=arn)
    assert kube.ask("GET", JOBS).status == 403
    eks.associate_access_policy(
        clusterName="sweep",
        principalArn=arn,
        policyArn="arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy",
        accessScope={"type": "namespace", "namespaces": ["sweep"]},
    )
    assert kube.ask("GET", JOBS).status == 200
    refused = kube.ask("POST", JOBS, make_job(name, "true"))
    assert refused.status == 403
    what = 'cannot create resource "jobs" in API group "batch" in the namespace "sweep"'
    assert refused.body["message"] == f'jobs.batch is forbidden: User "{arn}" {what}'
    assert kube.ask("GET", "/api/v1/nodes").status == 403


def test_faults_of_calls_strike_the_api_too(cloud: LocalCloud, kube: Kube) -> None:
    with cloud.fault("throttle", "kubernetes:ListJobs"):
        assert kube.ask("GET", JOBS).status == 429
        assert kube.ask("GET", f"{NAMESPACE}/pods").status == 200
    with cloud.fault("error", "kubernetes:*"):
        answer = kube.ask("GET", JOBS)
        assert (answer.status, answer.body["reason"]) == (500, "InternalError")


def test_another_name_is_no_cluster(client: Callable[..., Any]) -> None:
    with pytest.raises(ClientError) as caught:
        client("eks", REGION).describe_cluster(name="other")
    assert caught.value.response["Error"]["Code"] == "ResourceNotFoundException"
    assert client("eks", REGION).list_clusters()["clusters"] == ["sweep"]
