"""How deep tests look, decided here alone.

``SASH_TESTS`` is ``quick`` (the default, what ``make test`` runs), ``rest`` (what that leaves out,
for ``make test-full``) or ``all``. Quick runs leave out the tests marked ``full``, and tests by
Hypothesis look at fewer examples; the rest is both of them, with all examples.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

VARIABLE = "SASH_TESTS"
DEPTHS = ("quick", "rest", "all")
DEPTH = os.environ.get(VARIABLE, "quick")
if DEPTH not in DEPTHS:
    raise pytest.UsageError(f"{VARIABLE} is {DEPTH!r}: it has to be one of {', '.join(DEPTHS)}")
QUICK = DEPTH == "quick"
MARKERS = {
    "full": "slow, or of a rare case: left out of quick runs",
    "deeper": "with fewer examples in quick runs; tests by @given are that without the marker",
}
FEWEST = 5
Item = TypeVar("Item", bound=pytest.Item)


def examples(many: int) -> int:
    """Return how many examples to look at: so many, or in quick runs a quarter of them."""
    return max(min(many, FEWEST), many // 4) if QUICK else many


def sampled(cases: Iterable[Any], step: int) -> list[Any]:
    """Return parameters of a test: one in ``step`` is for quick runs too, the others are full."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.full)
        if i % step
        else case
        for i, case in enumerate(cases)
    ]


def chosen(items: Iterable[Item], depth: str = DEPTH) -> list[Item]:
    """Return the tests that run at a depth."""
    if depth == "quick":
        return [item for item in items if not item.get_closest_marker("full")]
    if depth == "rest":
        return [item for item in items if item.get_closest_marker("full") or is_deeper(item)]
    return list(items)


def is_deeper(item: pytest.Item) -> bool:
    """Tell whether a test looks at more examples in runs that are not quick."""
    by_given = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    return bool(by_given) or item.get_closest_marker("deeper") is not None
