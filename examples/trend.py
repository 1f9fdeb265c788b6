"""An aggregate of one's own: the slope of a line through the last hundred points.

Least squares needs five sums, and sums combine, so a trend slides like any other aggregate. The
same monoid runs on every structure; here two of them have to agree.
"""

from __future__ import annotations

import sash

State = tuple[int, int, int, int, int]


def lift(point: tuple[int, int]) -> State:
    """Make the sums of one point."""
    x, y = point
    return (1, x, y, x * x, x * y)


def combine(a: State, b: State) -> State:
    """Add the sums of two stretches."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4])


def slope(state: State) -> float | None:
    """Return the slope of the line, or None for a single point."""
    n, x, y, xx, xy = state
    spread = n * xx - x * x
    return (n * xy - x * y) / spread if spread else None


def main() -> None:
    """Follow a series that rises, rests and falls."""
    trend = sash.monoid(combine, lift=lift, lower=slope, commutative=True, name="trend")
    rises = [(x, 3 * x) for x in range(300)]
    rests = [(x, 900) for x in range(300, 600)]
    falls = [(x, 900 - (x - 600)) for x in range(600, 900)]
    points = rises + rests + falls
    slopes = sash.DabaLite(trend).slide(points, 100)
    assert slopes.tolist() == sash.TwoStacksLite(trend).slide(points, 100).tolist()
    for x in range(99, 900, 100):
        print(f"x = {x:3}: slope {slopes[x]:+.2f} over the last 100 points")


if __name__ == "__main__":
    main()
