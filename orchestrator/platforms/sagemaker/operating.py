"""What SageMaker needs in an account: the statements of the policies of docs/policies that are there because of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TRAININGS = "arn:aws:sagemaker:*:{account}:training-job/*"
_TRAINING_LOGS = "arn:aws:logs:*:{account}:log-group:/aws/sagemaker/TrainingJobs:*"


class SageMakerOperating:
    """Knows what SageMaker needs in an account: see `platforms.base.Operating` for what each method promises."""

    def permissions(self, role: str) -> Sequence[Mapping[str, object]]:
        return _STATEMENTS.get(role, ())


def _allow(sid: str, actions: list[str], resource: str, **more: Any) -> dict[str, Any]:
    return {"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": resource, **more}


_READ_LOGS = ["logs:DescribeLogStreams", "logs:GetLogEvents"]

_STATEMENTS = {
    "submit": (
        _allow(
            "CancelTrainings",
            ["sagemaker:DescribeTrainingJob", "sagemaker:StopTrainingJob", "sagemaker:ListTags"],
            _TRAININGS,
        ),
        _allow("PinImages", ["ecr:BatchGetImage"], "arn:aws:ecr:*:{account}:repository/sweep-*"),
        _allow("ReadLogs", _READ_LOGS, _TRAINING_LOGS),
    ),
    "launcher": (
        _allow(
            "RunTrainings",
            [
                "sagemaker:CreateTrainingJob",
                "sagemaker:AddTags",
                "sagemaker:DescribeTrainingJob",
                "sagemaker:ListTags",
                "sagemaker:StopTrainingJob",
            ],
            _TRAININGS,
        ),
        # AWS lists all trainings or none: this action takes no resource.
        _allow("NoticeWhichHaveEnded", ["sagemaker:ListTrainingJobs"], "*"),
        _allow("ReadTheirMetricsInTheirLogs", _READ_LOGS, _TRAINING_LOGS),
        _allow(
            "StartTrainingsUnderTheirRole",
            ["iam:PassRole"],
            "arn:aws:iam::{account}:role/sweep-training",
            Condition={"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        ),
    ),
    "training": (
        _allow(
            "PullTheImage",
            [
                "ecr:GetAuthorizationToken",
                "ecr:BatchCheckLayerAvailability",
                "ecr:BatchGetImage",
                "ecr:GetDownloadUrlForLayer",
            ],
            "*",
        ),
        _allow(
            "Log",
            ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            "arn:aws:logs:*:{account}:log-group:/aws/sagemaker/*",
        ),
        _allow("Metrics", ["cloudwatch:PutMetricData"], "*"),
    ),
}
"""The statements by the role that needs them."""
