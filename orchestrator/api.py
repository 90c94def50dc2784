"""The Python API: plan, submit, open a run, and the types of what they return. The CLI is a thin client of it.

Names are imported on first use (PEP 562): a command that asks the database alone must not pay for planning.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    from orchestrator.settings import Settings
    from orchestrator.settings import read as read_settings
    from orchestrator.snapshots import CatalogLoss
    from orchestrator.spec.duration import seconds as read_duration
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

_HOMES = {
    "BEFORE": "orchestrator.notices.send",
    "BudgetOfMonth": "orchestrator.budgets.budget:Budget",
    "CatalogLoss": "orchestrator.snapshots",
    "Conducted": "orchestrator.nightly.conduct",
    "Beside": "orchestrator.runs.views.beside",
    "CostRow": "orchestrator.runs.views.costs",
    "Decision": "orchestrator.models.models",
    "Delivery": "orchestrator.notices.send",
    "Difference": "orchestrator.runs.views.differences",
    "Discovered": "orchestrator.feeds.feeds",
    "Fetched": "orchestrator.runs.artifacts",
    "Finding": "orchestrator.feeds.discover",
    "Frozen": "orchestrator.nightly.freeze",
    "Hindrance": "orchestrator.runs.why.hindrance",
    "Lane": "orchestrator.wire.task",
    "LanePrices": "orchestrator.catalog.price_history",
    "Learned": "orchestrator.learned",
    "LearnedMark": "orchestrator.learned",
    "LearnedRow": "orchestrator.learned",
    "LogLine": "orchestrator.runs.views.logs",
    "ModelDifference": "orchestrator.models.differences",
    "Models": "orchestrator.models.models",
    "Moved": "orchestrator.runs.sending.replan",
    "NightRow": "orchestrator.nightly.views",
    "Notice": "orchestrator.notices.notice",
    "Objective": "orchestrator.spec.sweep",
    "Orchestrator": "orchestrator.orchestrator",
    "OtherPlan": "orchestrator.runs.written.anchor",
    "Outlook": "orchestrator.runs.views.outlook",
    "Plan": "orchestrator.plan.plan",
    "Problem": "orchestrator.catalog.check_catalog",
    "Promotion": "orchestrator.models.promotion",
    "Proposal": "orchestrator.runs.sending.proposal",
    "Refusal": "orchestrator.models.refusals",
    "Pushed": "orchestrator.images.push",
    "QuotaUse": "orchestrator.catalog.quotas",
    "Ranges": "orchestrator.wire.ranges",
    "Refreshed": "orchestrator.feeds.refresh",
    "Run": "orchestrator.runs.run",
    "RunRow": "orchestrator.runs.views.status",
    "SPENDING_KINDS": "orchestrator.spending.month:KINDS",
    "Scaling": "orchestrator.scaling.scaling",
    "ScalingAsked": "orchestrator.scaling.steps:Asked",
    "ScalingRow": "orchestrator.scaling.figures",
    "ScalingStep": "orchestrator.scaling.steps:Step",
    "Schedule": "orchestrator.spec.schedule.schedule",
    "ScheduleRow": "orchestrator.nightly.views",
    "Schedules": "orchestrator.nightly.schedules",
    "Search": "orchestrator.runs.ending.reap",
    "Settings": "orchestrator.settings",
    "Share": "orchestrator.plan.plan",
    "Spending": "orchestrator.spending.month",
    "SpendingRow": "orchestrator.spending.month",
    "Status": "orchestrator.runs.views.status",
    "Stopped": "orchestrator.runs.ending.proof",
    "Story": "orchestrator.runs.why.story",
    "Stray": "orchestrator.runs.ending.reap",
    "StrayArray": "orchestrator.runs.ending.stray_arrays",
    "StrayLeftover": "orchestrator.runs.ending.stray_leftovers",
    "Sweep": "orchestrator.spec.sweep",
    "TaskRow": "orchestrator.runs.views.tasks",
    "TaskState": "orchestrator.wire.result",
    "TimePart": "orchestrator.runs.why.story",
    "add_up": "orchestrator.spending.month",
    "bring_up": "orchestrator.spending.paid",
    "channels_of": "orchestrator.runs.telling",
    "compare_timings": "orchestrator.scaling.figures:compare",
    "draw_frontier": "orchestrator.plan.frontier_chart",
    "draw_month": "orchestrator.spending.month_chart",
    "draw_prices": "orchestrator.catalog.price_chart",
    "draw_scaling": "orchestrator.scaling.chart",
    "find_differences": "orchestrator.runs.views.differences",
    "find_model_differences": "orchestrator.models.differences",
    "find_paid": "orchestrator.spending.paid",
    "fit_efficiency": "orchestrator.scaling.figures",
    "freeze": "orchestrator.nightly.freeze",
    "image_address": "orchestrator.images.push:address",
    "list_schedules": "orchestrator.nightly.views",
    "next_night": "orchestrator.nightly.calendar",
    "night_history": "orchestrator.nightly.views:history",
    "notice_of_decision": "orchestrator.models.telling",
    "notice_of_end": "orchestrator.runs.telling",
    "notice_of_rollback": "orchestrator.models.telling",
    "notice_of_stuck": "orchestrator.runs.telling",
    "notify": "orchestrator.notices.send",
    "read_bill": "orchestrator.spending.bill",
    "read_duration": "orchestrator.spec.duration:seconds",
    "read_month": "orchestrator.budgets.hold",
    "read_month_span": "orchestrator.spending.paid",
    "read_plan": "orchestrator.plan.file",
    "read_schedule": "orchestrator.spec.schedule.schedule",
    "read_settings": "orchestrator.settings:read",
    "read_sweep": "orchestrator.rules",
    "schema": "orchestrator.rules",
    "settle_run": "orchestrator.runs.sending.envelopes",
    "show_schedule": "orchestrator.nightly.views",
    "tell": "orchestrator.runs.telling",
    "with_bill": "orchestrator.spending.month",
    "with_budgets": "orchestrator.spending.month",
    "write_plan": "orchestrator.plan.file",
}
"""The module that each name lives in; behind a colon stands what it is called there, if that is another name."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, its_name = _HOMES[name].partition(":")
    return getattr(import_module(module), its_name or name)


def __dir__() -> list[str]:
    return __all__
