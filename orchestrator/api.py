"""The Python API: plan, submit, open a run, and the types of what they return. The CLI is a thin client of it.

Names are imported on first use (PEP 562): a command that asks the database alone must not pay for planning.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from orchestrator.api_homes import HOMES

if TYPE_CHECKING:
    from orchestrator.budgets.budget import Budget as BudgetOfMonth
    from orchestrator.budgets.hold import read_month
    from orchestrator.catalog.check_catalog import Problem
    from orchestrator.catalog.price_chart import draw_prices
    from orchestrator.catalog.price_history import LanePrices
    from orchestrator.catalog.quotas import QuotaUse
    from orchestrator.feeds.discover import Finding
    from orchestrator.feeds.feeds import Discovered
    from orchestrator.feeds.refresh import Refreshed
    from orchestrator.images.push import Pushed
    from orchestrator.images.push import address as image_address
    from orchestrator.learned import Learned, LearnedMark, LearnedRow
    from orchestrator.models.differences import ModelDifference, find_model_differences
    from orchestrator.models.models import Decision, Models
    from orchestrator.models.promotion import Promotion
    from orchestrator.models.refusals import Refusal
    from orchestrator.models.telling import notice_of_decision, notice_of_rollback
    from orchestrator.nightly.calendar import next_night
    from orchestrator.nightly.conduct import Conducted
    from orchestrator.nightly.freeze import Frozen, freeze
    from orchestrator.nightly.schedules import Schedules
    from orchestrator.nightly.views import NightRow, ScheduleRow, list_schedules, show_schedule
    from orchestrator.nightly.views import history as night_history
    from orchestrator.notices.notice import Notice
    from orchestrator.notices.send import BEFORE, Delivery, notify
    from orchestrator.orchestrator import Orchestrator
    from orchestrator.plan.file import read_plan, write_plan
    from orchestrator.plan.frontier_chart import draw_frontier
    from orchestrator.plan.plan import Plan, Share
    from orchestrator.rules import read_sweep, schema
    from orchestrator.runs.artifacts import Fetched
    from orchestrator.runs.ending.proof import Stopped
    from orchestrator.runs.ending.reap import Search, Stray
    from orchestrator.runs.ending.stray_arrays import StrayArray
    from orchestrator.runs.ending.stray_leftovers import StrayLeftover
    from orchestrator.runs.run import Run
    from orchestrator.runs.sending.envelopes import settle_run
    from orchestrator.runs.sending.proposal import Proposal
    from orchestrator.runs.sending.replan import Moved
    from orchestrator.runs.telling import channels_of, notice_of_end, notice_of_stuck, tell
    from orchestrator.runs.views.beside import Beside
    from orchestrator.runs.views.costs import CostRow
    from orchestrator.runs.views.differences import Difference, find_differences
    from orchestrator.runs.views.logs import LogLine
    from orchestrator.runs.views.outlook import Outlook
    from orchestrator.runs.views.status import RunRow, Status
    from orchestrator.runs.views.tasks import TaskRow
    from orchestrator.runs.why.hindrance import Hindrance
    from orchestrator.runs.why.story import Story, TimePart
    from orchestrator.runs.written.anchor import OtherPlan
    from orchestrator.scaling.chart import draw_scaling
    from orchestrator.scaling.figures import ScalingRow, fit_efficiency
    from orchestrator.scaling.figures import compare as compare_timings
    from orchestrator.scaling.scaling import Scaling
    from orchestrator.scaling.steps import Asked as ScalingAsked
    from orchestrator.scaling.steps import Step as ScalingStep
    from orchestrator.settings.settings import Settings
    from orchestrator.settings.settings import read as read_settings
    from orchestrator.snapshots import CatalogLoss
    from orchestrator.spec.duration import seconds as read_duration
    from orchestrator.spec.reading.reader import find_place
    from orchestrator.spec.schedule.schedule import Schedule, read_schedule
    from orchestrator.spec.sweep import Objective, Sweep
    from orchestrator.spending.bill import read_bill
    from orchestrator.spending.month import KINDS as SPENDING_KINDS
    from orchestrator.spending.month import Spending, SpendingRow, add_up, with_bill, with_budgets
    from orchestrator.spending.month_chart import draw_month
    from orchestrator.spending.paid import bring_up, find_paid, read_month_span
    from orchestrator.wire.ranges import Ranges
    from orchestrator.wire.result import TaskState
    from orchestrator.wire.task import Lane

__all__ = [
    "BEFORE",
    "SPENDING_KINDS",
    "Beside",
    "BudgetOfMonth",
    "CatalogLoss",
    "Conducted",
    "CostRow",
    "Decision",
    "Delivery",
    "Difference",
    "Discovered",
    "Fetched",
    "Finding",
    "Frozen",
    "Hindrance",
    "Lane",
    "LanePrices",
    "Learned",
    "LearnedMark",
    "LearnedRow",
    "LogLine",
    "ModelDifference",
    "Models",
    "Moved",
    "NightRow",
    "Notice",
    "Objective",
    "Orchestrator",
    "OtherPlan",
    "Outlook",
    "Plan",
    "Problem",
    "Promotion",
    "Proposal",
    "Pushed",
    "QuotaUse",
    "Ranges",
    "Refreshed",
    "Refusal",
    "Run",
    "RunRow",
    "Scaling",
    "ScalingAsked",
    "ScalingRow",
    "ScalingStep",
    "Schedule",
    "ScheduleRow",
    "Schedules",
    "Search",
    "Settings",
    "Share",
    "Spending",
    "SpendingRow",
    "Status",
    "Stopped",
    "Story",
    "Stray",
    "StrayArray",
    "StrayLeftover",
    "Sweep",
    "TaskRow",
    "TaskState",
    "TimePart",
    "add_up",
    "bring_up",
    "channels_of",
    "compare_timings",
    "draw_frontier",
    "draw_month",
    "draw_prices",
    "draw_scaling",
    "find_differences",
    "find_model_differences",
    "find_paid",
    "find_place",
    "fit_efficiency",
    "freeze",
    "image_address",
    "list_schedules",
    "next_night",
    "night_history",
    "notice_of_decision",
    "notice_of_end",
    "notice_of_rollback",
    "notice_of_stuck",
    "notify",
    "read_bill",
    "read_duration",
    "read_month",
    "read_month_span",
    "read_plan",
    "read_schedule",
    "read_settings",
    "read_sweep",
    "schema",
    "settle_run",
    "show_schedule",
    "tell",
    "with_bill",
    "with_budgets",
    "write_plan",
]


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, its_name = HOMES[name].partition(":")
    return getattr(import_module(module), its_name or name)


def __dir__() -> list[str]:
    return __all__
