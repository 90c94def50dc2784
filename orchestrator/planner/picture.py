"""Plans from the cheapest to the fastest, as an SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.planner.plan import Plan


def picture(plans: list[Plan], width: int = 640, height: int = 360) -> str:
    """An SVG: hours to the right, dollars upwards, a point for each plan."""
    margin = 60
    most_h, most_usd = max(plan.finish for plan in plans), max(plan.usd for plan in plans)
    points = [
        (
            margin + plan.finish / most_h * (width - 2 * margin),
            height - margin - plan.usd / (most_usd or 1) * (height - 2 * margin),
        )
        for plan in plans
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
        f'<text x="{x + 6:.1f}" y="{y - 6:.1f}">{plan.finish:.3g} h, ${plan.usd:,.2f}</text>'
        for plan, (x, y) in zip(plans, points, strict=True)
    )
    floor, right = height - margin, width - margin
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11">'
        f'<path d="M{margin} {margin}V{floor}H{right}" fill="none" stroke="gray"/>'
        f'<polyline points="{line}" fill="none" stroke="steelblue"/><g fill="steelblue">{dots}</g>'
        f'<text x="{right}" y="{floor + 30}" text-anchor="end">hours until the last task ends</text>'
        f'<text x="{margin}" y="{margin - 20}">expected dollars</text></svg>\n'
    )
