"""What a sweep asks for beside how processes start: channels."""

from __future__ import annotations

from tests.parity.case import DATA, HERE, case, image

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
)
