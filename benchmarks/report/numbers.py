"""Figures as text: sizes as powers, costs with three digits, and where an axis has its ticks."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from matplotlib.ticker import MaxNLocator

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def cost(value: float) -> str:
    """Return a figure with three digits: "4.63", "15.0", "402,000", "1.07·10^-13"."""
    if value == 0:
        return "0"
    if abs(value) < 0.001:
        power = math.floor(math.log10(abs(value)))
        return f"{value / 10.0**power:.2f}·10^{power}"
    digits = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, digits)
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:.{max(digits, 0)}f}"


def sizes(places: Iterable[float | str]) -> dict[float | str, str]:
    """Return the places of an axis as text: all as powers of two, or of ten, or as they are."""
    there = list(dict.fromkeys(places))
    base = _base([x for x in there if not isinstance(x, str)])
    return {x: x if isinstance(x, str) else _size(x, base) for x in there}


def _base(numbers: list[float]) -> int:
    """Return which powers all numbers are of, if that is shorter than to write them: 2, 10 or 0."""
    positive = [x for x in numbers if x > 0]
    for base, least in ((2, 2048), (10, 100_000)):
        if max(positive, default=0) >= least and all(_power(x, base) is not None for x in positive):
            return base
    return 0


def _power(x: float, base: int) -> int | None:
    power = round(math.log(x, base))
    return power if math.isclose(base**power, x) else None


def _size(x: float, base: int) -> str:
    if base and x > 1:
        return f"{base}^{_power(x, base)}"
    return f"{x:,.0f}" if x == round(x) else f"{x:,g}"


def raised(text: str) -> str:
    """Return a text with raised exponents, as plots have them: "2²²" for "2^22"."""
    return re.sub(r"(?<=\d)\^(-?\d+)", lambda power: power[1].translate(_RAISED), text)


def tick(value: float) -> str:
    """Return the text of a tick: "0.5", "2,000", "10⁵", "3·10⁻⁶"."""
    if 0.001 <= value < 10_000 or value <= 0:
        return f"{value:,.0f}" if value == round(value) else f"{value:,g}"
    power = math.floor(math.log10(value) + 1e-9)
    first = value / 10**power
    front = "" if math.isclose(first, 1) else f"{first:g}·"
    return front + raised(f"10^{power}")


def log_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Return ticks of a logarithmic axis: decades, halves of them on a short one."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = range(first, last + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [s * 10.0**d for d in decades for s in steps if low <= s * 10.0**d <= high]
        if 3 <= len(ticks) <= most:
            return ticks
    if last - first > most:
        return [10.0**d for d in decades[:: math.ceil(len(decades) / most)]]
    found = MaxNLocator(most - 1).tick_values(low, high)
    return [float(x) for x in found if low <= x <= high]
