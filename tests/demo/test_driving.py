from __future__ import annotations

import numpy as np
import pytest

from orchestrator.demo.driving import CAMPAIGNS, DRIVES, FEATURES, Campaign, drives
from orchestrator.demo.sample_data import recordings

each_campaign = pytest.mark.parametrize("campaign", CAMPAIGNS, ids=lambda campaign: campaign.name)


@each_campaign
def test_recordings_are_the_same_every_time(campaign: Campaign) -> None:
    assert recordings(campaign) == recordings(campaign)


@each_campaign
def test_every_sensor_and_the_wheel_move(campaign: Campaign) -> None:
    features, angles = together(campaign)
    assert features.shape[1] == len(FEATURES)
    assert np.isfinite(features).all()
    assert (features.std(axis=0) > 1e-3).all()
    assert angles.std() > 10


@each_campaign
def test_a_linear_model_leaves_much_to_learn(campaign: Campaign) -> None:
    features, angles = together(campaign)
    inputs = np.column_stack([(features - features.mean(axis=0)) / features.std(axis=0), np.ones(len(features))])
    weights = np.linalg.lstsq(inputs, angles, rcond=None)[0]
    unexplained = np.var(angles - inputs @ weights) / np.var(angles)
    assert 0.05 < unexplained < 0.5


def test_the_same_bend_wants_another_angle_in_another_campaign() -> None:
    """A model of one campaign would not do for all: each has physics of its own."""
    per_bend = []
    for campaign in CAMPAIGNS:
        features, angles = together(campaign)
        per_bend.append(np.polyfit(features[:, FEATURES.index("bend_now")], angles, 1)[0])
    assert max(per_bend) > 1.3 * min(per_bend)


def together(campaign: Campaign) -> tuple[np.ndarray, np.ndarray]:
    all_of_them = list(drives(campaign))
    assert len(all_of_them) == DRIVES
    features, angles = zip(*all_of_them, strict=True)
    return np.concatenate(features).astype(float), np.concatenate(angles).astype(float)
