"""How far results over floats may be from the exact ones: the bounds of docs/numbers.md.

All arithmetic here is exact: a float is a whole number of the smallest one, 2^-1074, and what is
divided is a fraction.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sash import Aggregate, agg

U = Fraction(1, 2**53)
"""The largest relative error of one operation."""
TINY = Fraction(1, 2**1075)
"""The largest absolute error of a product or quotient below the normal floats."""
LARGEST = Fraction(sys.float_info.max)
_UNITS = 2**1074


def gamma(k: int) -> Fraction:
    """The largest relative error of k operations in a row."""
    return k * U / (1 - k * U)


def root_above(x: Fraction) -> Fraction:
    """A number that is at least the square root, and hardly more."""
    wide = x.numerator * x.denominator << 200
    return Fraction(math.isqrt(wide) + 1, x.denominator << 100)


@dataclass(frozen=True)
class Exact:
    """What is known exactly of a window of n finite floats."""

    n: int
    total: Fraction
    size: Fraction
    """The sum of the magnitudes."""
    squares: Fraction
    """The sum of squared distances from the mean."""
    low: float
    high: float

    @property
    def largest(self) -> Fraction:
        return max(abs(Fraction(self.low)), abs(Fraction(self.high)))


class Stream:
    """Floats, and exact facts about any stretch of them."""

    def __init__(self, values: Sequence[float]) -> None:
        self.values = list(values)
        self._sums, self._sizes, self._squares = [0], [0], [0]
        for value in self.values:
            up, down = value.as_integer_ratio()
            whole = up * (_UNITS // down)
            self._sums.append(self._sums[-1] + whole)
            self._sizes.append(self._sizes[-1] + abs(whole))
            self._squares.append(self._squares[-1] + whole * whole)

    def window(self, lo: int, hi: int) -> Exact:
        n, inside = hi - lo, self.values[lo:hi]
        total, size, squares = (
            sums[hi] - sums[lo] for sums in (self._sums, self._sizes, self._squares)
        )
        return Exact(
            n,
            Fraction(total, _UNITS),
            Fraction(size, _UNITS),
            Fraction(squares * n - total * total, n * _UNITS**2),
            min(inside),
            max(inside),
        )


# ---- the bounds --------------------------------------------------------------------------------


def sum_bound(w: Exact, depth: int | None = None) -> Fraction:
    return gamma(w.n - 1 if depth is None else depth) * w.size


def mean_bound(w: Exact) -> Fraction:
    return gamma(w.n) * w.size / w.n + TINY


def variance_bound(w: Exact, ddof: int) -> Fraction:
    """Of the pairwise merge of Chan, Golub and LeVeque; docs/numbers.md says why."""
    merged = w.n * max(1, w.n.bit_length())
    off = 17 * w.n * (U * w.largest + 2 * TINY) * root_above(Fraction(merged))
    root = root_above(w.squares)
    error = gamma(2 * w.n + 6) * (root + off) ** 2 + 2 * off * root + off * off
    return (error + 4 * merged * TINY) / (w.n - ddof) + TINY


# ---- who keeps them ----------------------------------------------------------------------------


def _near(got: float | None, exact: Fraction, bound: Fraction) -> bool:
    return got is not None and math.isfinite(got) and abs(Fraction(got) - exact) <= bound


def _sum(got: float | None, w: Exact) -> bool:
    return _near(got, w.total, sum_bound(w))


def _mean(got: float | None, w: Exact) -> bool:
    return _near(got, w.total / w.n, mean_bound(w))


def _variance(got: float | None, w: Exact) -> bool:
    if w.n < 2:
        return got is None
    return _near(got, w.squares / (w.n - 1), variance_bound(w, 1))


def _stddev(got: float | None, w: Exact) -> bool:
    if got is None:
        return False
    exact, bound = w.squares / w.n, variance_bound(w, 0)
    squared = Fraction(got) ** 2  # the root itself is rounded once
    return (exact - bound) * (1 - 3 * U) <= squared <= (exact + bound) * (1 + 3 * U)


def _range(got: float | None, w: Exact) -> bool:
    return got == w.high - w.low


def _relative(got: float | None, w: Exact) -> bool:
    if w.high == 0:
        return got is None
    exact = 1 - Fraction(w.low) / Fraction(w.high)
    return _near(got, exact, gamma(2) * abs(exact) + TINY)


def _adds_up(w: Exact) -> bool:
    return w.size * (1 + gamma(w.n)) <= LARGEST


def _squares_up(w: Exact) -> bool:
    apart = Fraction(w.high) - Fraction(w.low) + 17 * w.n * U * w.largest
    return _adds_up(w) and 2 * w.n * apart**2 <= LARGEST


def _divides(w: Exact) -> bool:
    apart = Fraction(w.high) - Fraction(w.low)
    return apart <= LARGEST and apart <= abs(Fraction(w.high)) * LARGEST / 2


@dataclass(frozen=True)
class Claim:
    """An aggregate, the windows that cannot overflow, and the bound it keeps in these."""

    make: Callable[..., Aggregate]
    promised: Callable[[Exact], bool]
    kept: Callable[[float | None, Exact], bool]
    options: tuple[tuple[str, int], ...] = ()

    def aggregate(self, column: str | None = None) -> Aggregate:
        return self.make(column, **dict(self.options))


CLAIMS = {
    "sum": Claim(agg.sum, _adds_up, _sum),
    "mean": Claim(agg.mean, _adds_up, _mean),
    "variance": Claim(agg.variance, _squares_up, _variance),
    "stddev": Claim(agg.stddev, _squares_up, _stddev, (("ddof", 0),)),
    "range": Claim(agg.range, lambda w: True, _range),
    "relative_variation": Claim(agg.relative_variation, _divides, _relative),
}
