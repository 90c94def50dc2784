"""What a sweep asks for beside how processes start: channels, security, paths, and AWS's own words."""

from __future__ import annotations

from tests.parity.case import DATA, HERE, POINT, REGION, RUN, case, framework, image

IMAGE_CONFIG = {"TrainingRepositoryAccessMode": "Vpc"}
NESTED = {"layers": [64, 32], "schedule": {"warmup": 3, "steps": [10, 20]}, "name": "net"}
TF_URI = {"image": f"763104351884.dkr.ecr.{REGION}.amazonaws.com/tensorflow-training:2.19.0-gpu-py312"}
OTHER_ROLE = "arn:aws:iam::123456789012:role/vision"
SUBNETS, GROUPS = ["subnet-0a0a0a0a", "subnet-0b0b0b0b"], ["sg-0a0a0a0a"]
SCRATCH = {"id": "fs-0123456789abcdef0", "type": "FSxLustre", "path": "/abcdefgh/scratch", "access": "rw"}
VALIDATION, MODEL = f"{HERE}/validation/", f"{HERE}/pretrained/v7/"

ASKED = (
    case("channel, of another name", image(), {"data_channel": "train"}, None, inputs={"train": {"s3_data": DATA}}),
    case(
        "channels, fixed ones beside the dataset",
        image(),
        {
            "data_channel": "train",
            "channels": {"validation": "s3://team-{region}/validation/", "pretrained": {"eu-west-1": MODEL}},
        },
        None,
        inputs={"train": {"s3_data": DATA}, "validation": {"s3_data": VALIDATION}, "pretrained": {"s3_data": MODEL}},
    ),
    case(
        "channels, streamed and in shares",
        image(),
        {"data_channel": "train", "instances": 2, "channels": {"validation": VALIDATION}},
        None,
        sweep={
            "platforms": {
                "sagemaker": {
                    "channels": {
                        "train": {"input_mode": "FastFile", "distribution": "ShardedByS3Key", "shuffle_seed": 7},
                        "validation": {"s3_data_type": "ManifestFile", "content_type": "text/csv"},
                    }
                }
            }
        },
        inputs={
            "train": {
                "s3_data": DATA,
                "input_mode": "FastFile",
                "distribution": "ShardedByS3Key",
                "shuffle_config": 7,
            },
            "validation": {"s3_data": VALIDATION, "s3_data_type": "ManifestFile", "content_type": "text/csv"},
        },
    ),
    case(
        "channel, piped, by an augmented manifest",
        image(),
        {},
        None,
        sweep={
            "platforms": {
                "sagemaker": {
                    "channels": {
                        "training": {
                            "input_mode": "Pipe",
                            "s3_data_type": "AugmentedManifestFile",
                            "attribute_names": ["image", "label"],
                            "record_wrapping": "RecordIO",
                            "compression": "Gzip",
                        }
                    }
                }
            }
        },
        inputs={
            "training": {
                "s3_data": DATA,
                "input_mode": "Pipe",
                "s3_data_type": "AugmentedManifestFile",
                "attribute_names": ["image", "label"],
                "record_wrapping": "RecordIO",
                "compression": "Gzip",
            }
        },
    ),
    case(
        "security, all of it",
        image(),
        {"instances": 2},
        None,
        instance_type="ml.c5.4xlarge",
        sweep={
            "platforms": {
                "sagemaker": {
                    "role": OTHER_ROLE,
                    "vpc": {"eu-west-1": {"subnets": SUBNETS, "security_groups": GROUPS}},
                    "volume_kms_key": "arn:aws:kms:{region}:123456789012:key/mrk-1",
                    "output_kms_key": {"eu-west-1": "alias/outputs"},
                    "encrypt_between_instances": True,
                    "file_systems": {"scratch": {"eu-west-1": SCRATCH}},
                }
            },
        },
        arguments={
            "role": OTHER_ROLE,
            "subnets": SUBNETS,
            "security_group_ids": GROUPS,
            "volume_kms_key": "arn:aws:kms:eu-west-1:123456789012:key/mrk-1",
            "output_kms_key": "alias/outputs",
            "encrypt_inter_container_traffic": True,
        },
        inputs={
            "training": {"s3_data": DATA},
            "scratch": {
                "file_system_id": "fs-0123456789abcdef0",
                "file_system_type": "FSxLustre",
                "directory_path": "/abcdefgh/scratch",
                "file_system_access_mode": "rw",
            },
        },
    ),
    case(
        "security, cut off from all networks",
        image(),
        {},
        None,
        sweep={"platforms": {"sagemaker": {"network_isolation": True}}},
        arguments={"enable_network_isolation": True},
    ),
    case(
        "security, a volume's key on local disks",
        image(),
        {},
        None,
        sweep={"platforms": {"sagemaker": {"volume_kms_key": "alias/volumes"}}},
        arguments={"volume_kms_key": "alias/volumes"},
        we_refuse="ml.g5.xlarge takes no volume_kms_key",
        reason="AWS documents that it cannot be asked for there; the SDK sends it all the same",
    ),
    case(
        "paths, one's own",
        image(),
        {"checkpoints": {"every": "5m", "folder": "/opt/ml/saved"}},
        None,
        sweep={
            "platforms": {
                "sagemaker": {
                    "output": "s3://models-{region}/steering",
                    "checkpoints": {"eu-west-1": "s3://saved/steering/"},
                    "compress_output": False,
                }
            }
        },
        arguments={
            "output_path": f"s3://models-{REGION}/steering",
            "checkpoint_s3_uri": f"s3://saved/steering/{RUN}/0",
            "checkpoint_local_path": "/opt/ml/saved",
            "disable_output_compression": True,
            "environment": {"SWEEP_CHECKPOINT_EVERY_S": "300", "SWEEP_CHECKPOINT_FOLDER": "/opt/ml/saved"},
        },
    ),
    case(
        "hyperparameters, lists and mappings",
        image(),
        {"hyperparameters": NESTED},
        None,
        arguments={"hyperparameters": NESTED | POINT},
    ),
    case(
        "metrics, own image",
        image(),
        {"metrics": {"loss": "loss=([0-9.]+)"}},
        None,
        arguments={"metric_definitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}]},
    ),
    case("metrics, an image before they were", framework("1.2.0", "py3"), {}, None),
    case(
        "smddp, options of mpirun",
        framework("2.2.0", "py310"),
        {"parallel": "smddp", "instances": 2, "mpi_options": "-verbose"},
        {"smdistributed": {"dataparallel": {"enabled": True, "custom_mpi_options": "-verbose"}}},
        instance_type="ml.p4d.24xlarge",
    ),
    case(
        "single, AWS's TensorFlow by its URI",
        (TF_URI, {"image_uri": TF_URI["image"], "model_dir": "/opt/ml/model"}),
        {},
        None,
        estimator="tensorflow",
    ),
    case(
        "everything else, in AWS's words",
        image(),
        {},
        None,
        sweep={
            "platforms": {
                "sagemaker": {
                    "request": {
                        "TensorBoardOutputConfig": {"S3OutputPath": "s3://logs-{region}/tensorboard"},
                        "RemoteDebugConfig": {"EnableRemoteDebug": True},
                        "InfraCheckConfig": {"EnableInfraCheck": True},
                        "AlgorithmSpecification": {"TrainingImageConfig": IMAGE_CONFIG},
                    }
                }
            }
        },
        arguments={
            "tensorboard_output_config": f"s3://logs-{REGION}/tensorboard",
            "enable_remote_debug": True,
            "enable_infra_check": True,
            "training_repository_access_mode": "Vpc",
        },
    ),
)
