"""Which feeds does SageMaker bring? Prices on demand come before those of spot, which are told as a part of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.platforms.sagemaker.feeds import (
    ec2_prices,
    ec2_spot_prices,
    instance_shapes,
    placement_scores,
    savings_plans,
    spot_advice,
    training_plans,
    training_prices,
    training_quotas,
    training_use,
)

if TYPE_CHECKING:
    from orchestrator.platforms.feed import Feed

FEEDS: tuple[Feed, ...] = (
    training_prices.FEED,
    ec2_prices.FEED,
    ec2_spot_prices.FEED,
    instance_shapes.FEED,
    training_quotas.FEED,
    training_use.FEED,
    spot_advice.FEED,
    placement_scores.FEED,
    training_plans.FEED,
    savings_plans.FEED,
)
