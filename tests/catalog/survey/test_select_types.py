"""`where.resources` stands for every type for sale that has them, and for no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import InfeasibleError
from orchestrator.platforms.base import Complaint
from orchestrator.wire.shapes import Chip, Shape
from tests.catalog.conftest import write
from tests.catalog.platforms import Machines, Managed, make_catalog
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orchestrator.catalog.catalog import Catalog
    from orchestrator.spec.sweep import Sweep

PRICES = """
    platform,region,instance_type,purchase,usd_per_hour,observed_at
    sagemaker,us-east-1,ml.g5.xlarge,on_demand,1.4,2026-11-01
    sagemaker,us-east-1,ml.g5.12xlarge,on_demand,7,2026-11-01
    sagemaker,us-east-1,ml.g5.12xlarge,spot,2,2026-11-01
    sagemaker,us-east-1,ml.g6.12xlarge,on_demand,6,2026-11-01
    sagemaker,us-west-2,ml.p4d.24xlarge,on_demand,37,2026-11-01
    sagemaker,us-east-1,ml.new.12xlarge,on_demand,5,2026-11-01
    ec2,us-east-1,g6.12xlarge,on_demand,5,2026-11-01
    """
POOL = """
    platform,region,instance_type,purchase,usd_per_hour,observed_at
    pool,us-east-1,desk.2xlarge,on_demand,0.3,2026-11-01
    pool,us-east-1,shed.xlarge,on_demand,0.1,2026-11-01
    """
PLANS = """
    commitment,kind,region,instance_type,slots,usd_per_hour,discount,starts_at,ends_at,arn
    ours,training_plan,us-east-1,ml.g5.24xlarge,2,,,2030-01-01,2230-02-01,arn:aws:sagemaker:us-east-1:111122223333:training-plan/ours
    over,training_plan,us-east-1,ml.g6.24xlarge,2,,,2020-01-01,2020-02-01,arn:aws:sagemaker:us-east-1:111122223333:training-plan/over
    """


class Choosy(Managed):
    """Starts nothing on types of the families that it is made with."""

    def __init__(self, *families: str) -> None:
        self.families = families

    def check(self, sweep: Sweep) -> Iterator[Complaint]:
        for index, name in enumerate(sweep.where.instance_types):
            if name.split(".")[1] in self.families:
                yield Complaint(f"nothing starts on {name}", "take another", ("where", "instance_types", index))


def stocked(url: str, folder: Path, **platforms: Any) -> Catalog:
    catalog = make_catalog(url, **platforms)
    catalog.load([write(folder, "prices", PRICES), write(folder, "commitments", PLANS)])
    return catalog


@pytest.fixture
def stock(database_url: str, tmp_path: Path) -> Catalog:
    return stocked(database_url, tmp_path)


def selected(catalog: Catalog, resources: dict[str, Any], **where: Any) -> list[str]:
    return catalog.select_types(make_sweep(where=where | {"resources": resources})).where.instance_types


def test_every_type_for_sale_that_has_the_resources_is_selected(stock: Catalog) -> None:
    assert selected(stock, {"gpus": 4}) == ["ml.g5.12xlarge", "ml.g6.12xlarge"]
    assert selected(stock, {"cpus": 96}) == ["ml.p4d.24xlarge"]


def test_only_what_is_for_sale_in_an_allowed_region_counts(stock: Catalog) -> None:
    assert selected(stock, {"gpus": 8}, regions=["us-west-2"]) == ["ml.p4d.24xlarge"]
    with pytest.raises(InfeasibleError) as caught:
        selected(stock, {"gpus": 8, "cpus": 4}, regions=["us-east-1", "eu-west-1"])
    assert str(caught.value) == (
        "where.resources: none of 4 instance types for sale in us-east-1, eu-west-1 has gpus: 8 "
        "(ask for less; `sweep catalog show prices` lists what is for sale)"
    )


def test_the_instances_of_a_training_plan_count_while_it_lasts_and_may_be_used(stock: Catalog) -> None:
    resources = {"gpus": 4, "cpus": 96}
    assert selected(stock, resources, purchases=["committed", "spot"]) == ["ml.g5.24xlarge"]
    with pytest.raises(InfeasibleError, match="none of 1 instance type for sale has gpus: 8"):
        selected(stock, {"gpus": 8}, purchases=["committed"])
    with pytest.raises(InfeasibleError, match="none of 5 instance types for sale has gpus: 4, cpus: 96"):
        selected(stock, resources)


def test_only_the_platforms_of_the_sweep_count(database_url: str, tmp_path: Path) -> None:
    both = stocked(database_url, tmp_path, ec2=Machines())
    assert selected(both, {"gpu": ["L4"]}) == ["g6.12xlarge", "ml.g6.12xlarge"]
    assert selected(both, {"gpu": ["L4"]}, platforms=["ec2"]) == ["g6.12xlarge"]


def test_types_of_a_platform_of_its_own_are_selected_by_what_it_says_of_them(database_url: str, tmp_path: Path) -> None:
    pool = Machines({"desk.2xlarge": Shape(vcpus=16, memory_gib=64, chip=Chip("RTX 4090", 2, 24))})
    catalog = stocked(database_url, tmp_path, pool=pool)
    catalog.load([write(tmp_path, "prices", POOL)])
    assert selected(catalog, {"gpu": ["rtx 4090"]}) == ["desk.2xlarge"]
    assert selected(catalog, {"gpus": 2, "cpus": 8}, platforms=["pool"]) == ["desk.2xlarge"]
    with pytest.raises(InfeasibleError, match="none of 2 instance types for sale has gpus: 1 "):
        selected(catalog, {"gpus": 1}, platforms=["pool"])
    with pytest.raises(InfeasibleError, match="none of 5 instance types for sale has gpus: 2 "):
        selected(catalog, {"gpus": 2}, platforms=["sagemaker"])


def test_a_type_on_which_a_platform_starts_nothing_is_left_out(database_url: str, tmp_path: Path) -> None:
    choosy = stocked(database_url, tmp_path, sagemaker=Choosy("g6"))
    assert selected(choosy, {"gpus": 4}) == ["ml.g5.12xlarge"]
    with pytest.raises(InfeasibleError) as caught:
        selected(choosy, {"gpu": ["L4"]})
    assert str(caught.value) == "where.resources: nothing starts on ml.g6.12xlarge (take another)"


def test_names_beside_the_resources_are_narrowed_whatever_is_for_sale(empty: Catalog) -> None:
    names = ["ml.p4d.24xlarge", "ml.g6.12xlarge", "ml.g6.xlarge", "ml.new.large"]
    assert selected(empty, {"gpu": ["L4"]}, instance_types=names) == ["ml.g6.12xlarge", "ml.g6.xlarge"]


def test_a_sweep_without_resources_is_left_as_it_is(empty: Catalog) -> None:
    assert empty.select_types(make_sweep()) == make_sweep()


def test_planning_again_looks_at_all_that_is_for_sale_again(stock: Catalog) -> None:
    planned = make_sweep(where={"resources": {"gpus": 4}}).with_types(["ml.gone.12xlarge"])
    assert stock.select_types(planned).where.instance_types == ["ml.g5.12xlarge", "ml.g6.12xlarge"]


def test_that_nothing_is_for_sale_is_told(stock: Catalog) -> None:
    with pytest.raises(InfeasibleError, match=r"^where.resources: no instance type is for sale in eu-west-1 "):
        selected(stock, {"gpus": 4}, regions=["eu-west-1"])
    with pytest.raises(InfeasibleError, match="no instance type is for sale"):
        selected(stock, {"gpus": 4}, regions=["us-west-2"], purchases=["committed"])
