"""Clients that are not ours train on the local cloud as they do on AWS: `make clients` installs them."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks import environment
from tests.localcloud.conftest import TrainingDesk
from tests.localcloud.services.eks.kube import make_token

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud

HERE = Path(__file__).parent
BUCKET = "sweep-local-us-east-1"
TRAIN = "import os, sys\nprint('learned', *sys.argv[1:])\nopen(os.environ['SM_MODEL_DIR'] + '/model', 'w').write('7')\n"


@pytest.fixture
def run(cloud: LocalCloud, client: Callable[..., Any], tmp_path: Path, name: str) -> Callable[..., str]:
    """Run a script of a client's in its own environment, beside a folder of code, and return what it printed."""
    client("s3").put_object(Bucket=BUCKET, Key=f"{name}/data/x.txt", Body=b"seven")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text(TRAIN)

    def script(where: str, *words: str, **more: str) -> str:
        if not environment.installed(where):
            pytest.skip(f"{where} is not installed: `make clients`")
        own = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "PYTHON"))}
        environ = {**own, **cloud.environment, "AWS_DEFAULT_REGION": "us-east-1", "HOME": str(tmp_path), **more}
        line = [str(environment.BENCH / where / "bin" / "python"), *words]
        done = subprocess.run(line, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        return done.stdout

    return script


@pytest.mark.long
def test_the_sagemaker_sdk_fits_and_attaches(run: Callable[..., str], name: str) -> None:
    said = run("sdk", str(HERE / "sdk2_fit.py"), BUCKET, name)
    told = json.loads(said.splitlines()[-1])
    model = f"s3://{BUCKET}/{name}/out/{name}/output/model.tar.gz"
    assert (told["model"], told["again"], told["lr"]) == (model, model, "0.1")
    assert "learned --lr 0.1" in said


@pytest.mark.long
def test_the_sagemaker_sdk_s_model_trainer_trains(
    run: Callable[..., str], client: Callable[..., Any], cloud: LocalCloud, name: str
) -> None:
    """Its driver in the container looks for /opt/ml itself, which a training has where the machine gives namespaces."""
    training = run("sdk3", str(HERE / "sdk3_train.py"), BUCKET, name).splitlines()[-1]
    found = client("sagemaker").describe_training_job(TrainingJobName=training)
    assert found["HyperParameters"] == {"lr": "0.1"}
    assert {"training", "code", "sm_drivers"} == {channel["ChannelName"] for channel in found["InputDataConfig"]}
    if cloud.serving.trainings:
        pytest.skip(f"it cannot end here: {cloud.serving.trainings}")
    desk = TrainingDesk(client, training)
    ended = desk.end(within_s=120)
    assert ended["TrainingJobStatus"] == "Completed", (ended.get("FailureReason"), desk.log())
    assert any("learned --lr 0.1" in line for line in desk.log())
    assert ended["ModelArtifacts"]["S3ModelArtifacts"].endswith("model.tar.gz")


@pytest.mark.long
def test_a_step_of_metaflow_runs_on_batch(run: Callable[..., str], cloud: LocalCloud, name: str) -> None:
    settings = {
        "METAFLOW_DEFAULT_DATASTORE": "s3",
        "METAFLOW_DEFAULT_METADATA": "local",
        "METAFLOW_DATASTORE_SYSROOT_S3": f"s3://{BUCKET}/{name}/metaflow",
        "METAFLOW_BATCH_JOB_QUEUE": "sweep",
        "METAFLOW_ECS_S3_ACCESS_IAM_ROLE": "arn:aws:iam::123456789012:role/sweep-training",
        "METAFLOW_ECS_FARGATE_EXECUTION_ROLE": "arn:aws:iam::123456789012:role/sweep-execution",
        "METAFLOW_BATCH_CONTAINER_IMAGE": "any",
        "METAFLOW_S3_ENDPOINT_URL": cloud.endpoint,
        "USERNAME": "ada",
    }
    said = run("metaflow", str(HERE / "flow.py"), "run", **settings)
    assert "loss 0.25" in said


@pytest.mark.long
def test_kubernetes_own_client_watches_a_job_and_its_pods(
    run: Callable[..., str], client: Callable[..., Any], cloud: LocalCloud, tmp_path: Path, name: str
) -> None:
    cluster = client("eks", "eu-west-1").describe_cluster(name="sweep")["cluster"]
    authority = tmp_path / "authority.pem"
    authority.write_bytes(base64.b64decode(cluster["certificateAuthority"]["data"]))
    keys = (cloud.environment["AWS_ACCESS_KEY_ID"], cloud.environment["AWS_SECRET_ACCESS_KEY"])
    token = make_token(*keys, "eu-west-1")
    words = (cluster["endpoint"], str(authority), token, name)
    told = json.loads(run("kubernetes", str(HERE / "kube_watch.py"), *words).splitlines()[-1])
    assert (told["jobs"][0], told["jobs"][-1]) == ("ADDED", "DELETED")
    assert len(told["pods"]) == 2
    assert told["selected"]
    for seen in told["pods"]:
        assert (seen[0], seen[-1]) == ("ADDED", "DELETED")
        assert set(seen[1:-1]) == {"MODIFIED"}
