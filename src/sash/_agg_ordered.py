"""Aggregates that need the values of a window in order, or counted: medians, ranks, modes.

No state of bounded size can give them, so no structure takes them; `sash.rolling` does, where it
can see all values beforehand.
"""

from __future__ import annotations

import numbers

from sash._aggregate import Aggregate, Laws

BETWEEN = ("linear", "lower", "higher", "nearest", "midpoint")
TIES = ("average", "min", "max")
RANKED = frozenset({"median", "quantile", "rank"})
COUNTED = frozenset({"count_distinct", "mode"})
_LAWS = Laws(commutative=True)


def median(column: str | None = None) -> Aggregate:
    """Find the exact median, the mean of the middle two. Result: float64. `sash.rolling` only."""
    return Aggregate("median", (column,), _LAWS, "float64", doubles=(0.5,), ints=(0,))


def quantile(q: float, column: str | None = None, *, interpolation: str = "linear") -> Aggregate:
    """Find the exact quantile ``q``, from 0 to 1. `sash.rolling` only.

    ``interpolation`` says what lies between two values: ``linear`` or ``midpoint`` (float64),
    ``lower``, ``higher`` or ``nearest`` (one of the values, of their type).
    """
    if isinstance(q, bool) or not isinstance(q, numbers.Real) or not 0 <= q <= 1:
        raise ValueError(f"quantile: q lies between 0 and 1, not {q!r}")
    if interpolation not in BETWEEN:
        raise ValueError(f"quantile: interpolation is one of {BETWEEN}, not {interpolation!r}")
    how = BETWEEN.index(interpolation)
    result = "float64" if interpolation in ("linear", "midpoint") else "as input"
    return Aggregate("quantile", (column,), _LAWS, result, doubles=(float(q),), ints=(how,))


def rank(column: str | None = None, *, ties: str = "average") -> Aggregate:
    """Rank the row's own value in its window, from 1. `sash.rolling` only.

    Result: float64. Equal values have the ``average`` of their ranks, the ``min`` or the ``max``.
    """
    if ties not in TIES:
        raise ValueError(f"rank: ties is one of {TIES}, not {ties!r}")
    return Aggregate("rank", (column,), _LAWS, "float64", ints=(TIES.index(ties),))


def count_distinct(column: str | None = None) -> Aggregate:
    """Count the different values, exactly. Result: int64. `sash.rolling` only.

    `hll` estimates it anywhere.
    """
    return Aggregate("count_distinct", (column,), _LAWS, "int64")


def mode(column: str | None = None) -> Aggregate:
    """Find the most frequent value, the smallest of several. `sash.rolling` only.

    Result: the input's type.
    """
    return Aggregate("mode", (column,), _LAWS, "as input")
