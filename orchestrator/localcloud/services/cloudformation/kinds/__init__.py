"""The types of resources: each is made, read back, changed and deleted by its own service.

kind.py      what must be known of every type, and when is a resource what was asked for?
buckets.py   S3
roles.py     IAM
batch.py     Batch
stores.py    ECR and CloudWatch Logs
network.py   EC2's networks
clusters.py  who is let into clusters of EKS, and the roles of their pods
signals.py   groups of EventBridge Scheduler, SNS's topics, and SQS's queues
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.localcloud.services.cloudformation.kinds import (
    batch,
    buckets,
    clusters,
    network,
    roles,
    signals,
    stores,
)

if TYPE_CHECKING:
    from orchestrator.localcloud.services.cloudformation.kinds.kind import Kind

KINDS: dict[str, Kind] = {
    "AWS::S3::Bucket": buckets.Bucket(),
    "AWS::IAM::Role": roles.Role(),
    "AWS::IAM::ManagedPolicy": roles.ManagedPolicy(),
    "AWS::IAM::InstanceProfile": roles.InstanceProfile(),
    "AWS::Batch::ComputeEnvironment": batch.ComputeEnvironment(),
    "AWS::Batch::JobQueue": batch.JobQueue(),
    "AWS::ECR::Repository": stores.Repository(),
    "AWS::Logs::LogGroup": stores.LogGroup(),
    "AWS::Scheduler::ScheduleGroup": signals.ScheduleGroup(),
    "AWS::SNS::Topic": signals.Topic(),
    "AWS::SQS::Queue": signals.Queue(),
    "AWS::EKS::AccessEntry": clusters.AccessEntry(),
    "AWS::EKS::PodIdentityAssociation": clusters.PodIdentityAssociation(),
    "AWS::EC2::VPC": network.Vpc(),
    "AWS::EC2::Subnet": network.Subnet(),
    "AWS::EC2::InternetGateway": network.InternetGateway(),
    "AWS::EC2::VPCGatewayAttachment": network.GatewayAttachment(),
    "AWS::EC2::RouteTable": network.RouteTable(),
    "AWS::EC2::Route": network.Route(),
    "AWS::EC2::SubnetRouteTableAssociation": network.RouteTableAssociation(),
    "AWS::EC2::VPCEndpoint": network.VpcEndpoint(),
    "AWS::EC2::SecurityGroup": network.SecurityGroup(),
}
"""Every type that the local cloud can make. A template with any other is refused."""
