"""What every aggregate means: brute-force definitions in plain Python, nothing of the core used.

Each function takes the window's values in order, ``None`` for null, and gives the expected result.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Values = Sequence[Any]
Oracle = Callable[[Values], Any]


def present(values: Values) -> list[Any]:
    return [v for v in values if v is not None]


def is_nan(v: Any) -> bool:
    return isinstance(v, float) and math.isnan(v)


def order(v: Any) -> tuple[bool, Any]:
    """The order of Spark: NaN is greater than everything."""
    return (True, 0) if is_nan(v) else (False, v)


def count_rows(values: Values) -> int:
    return len(values)


def count(values: Values) -> int:
    return len(present(values))


def sum_(values: Values) -> Any:
    found = present(values)
    if not found:
        return None
    total = found[0]
    for v in found[1:]:
        total = total + v
    return total


def mean(values: Values) -> float | None:
    found = present(values)
    if not found:
        return None
    if all(isinstance(v, int) for v in found):
        return float(Fraction(sum(found), len(found)))
    return sum_(found) / len(found)


def geomean(values: Values) -> float | None:
    found = present(values)
    if not found:
        return None
    if any(is_nan(v) or v < 0 for v in found) or (0 in found and math.inf in found):
        return math.nan
    if 0 in found or math.inf in found:
        return 0.0 if 0 in found else math.inf
    return math.exp(math.fsum(map(math.log, found)) / len(found))


def variance(ddof: int) -> Oracle:
    def oracle(values: Values) -> float | None:
        found = present(values)
        if len(found) <= ddof:
            return None
        if not all(math.isfinite(v) for v in found):
            return math.nan
        middle = sum(map(Fraction, found)) / len(found)
        return float(sum((Fraction(v) - middle) ** 2 for v in found) / (len(found) - ddof))

    return oracle


def stddev(ddof: int) -> Oracle:
    def oracle(values: Values) -> float | None:
        v = variance(ddof)(values)
        return None if v is None else math.sqrt(v)

    return oracle


def product(values: Values) -> float | None:
    found = present(values)
    return math.prod(map(float, found)) if found else None


def min_(values: Values) -> Any:
    return min(present(values), key=order, default=None)


def max_(values: Values) -> Any:
    return max(present(values), key=order, default=None)


def mincount(values: Values) -> int:
    found = [order(v) for v in present(values)]
    return found.count(min(found)) if found else 0


def maxcount(values: Values) -> int:
    found = [order(v) for v in present(values)]
    return found.count(max(found)) if found else 0


def argmin(rows: Values) -> Any:
    found = [r for r in rows if r is not None and r[0] is not None]
    return min(found, key=lambda r: order(r[0]), default=(None, None))[1]  # min: the first wins


def argmax(rows: Values) -> Any:
    found = [r for r in rows if r is not None and r[0] is not None]
    return max(found, key=lambda r: order(r[0]), default=(None, None))[1]  # max: the first wins


def range_(values: Values) -> Any:
    found = present(values)
    return max_(found) - min_(found) if found else None


def relative_variation(values: Values) -> float | None:
    found = present(values)
    if not found or max_(found) == 0:
        return None
    return (max_(found) - min_(found)) / max_(found)


def first(values: Values) -> Any:
    return next(iter(present(values)), None)


def last(values: Values) -> Any:
    return next(iter(reversed(present(values))), None)


def nth_youngest(n: int) -> Oracle:
    def oracle(values: Values) -> Any:
        found = present(values)
        return found[-n] if len(found) >= n else None

    return oracle


def any_(values: Values) -> bool | None:
    found = present(values)
    return any(found) if found else None


def all_(values: Values) -> bool | None:
    found = present(values)
    return all(found) if found else None


def weighted_mean(rows: Values) -> float | None:
    pairs = [(v, w) for v, w in rows if v is not None and w is not None]
    total = math.fsum(w for _, w in pairs)
    if total == 0:
        return None
    return sum(v * w for v, w in pairs) / total


def m4(rows: Values) -> dict[str, tuple[int, Any]] | None:
    found = [(t, v) for v, t in rows if v is not None and t is not None]
    if not found:
        return None
    low = min(found, key=lambda p: order(p[1]))
    high = max(found, key=lambda p: order(p[1]))
    return {"first": found[0], "last": found[-1], "min": low, "max": high}


def collect(values: Values) -> list[Any] | None:
    return present(values) or None


def distinct(values: Values) -> frozenset[Any] | None:
    return frozenset(present(values)) or None


def concat(separator: str) -> Oracle:
    def oracle(values: Values) -> str | None:
        found = present(values)
        return separator.join(map(str, found)) if found else None

    return oracle


def topk(k: int, smallest: bool = False) -> Oracle:
    def oracle(values: Values) -> list[Any] | None:
        found = sorted(present(values), key=order, reverse=not smallest)
        return found[:k] or None

    return oracle


def histogram(edges: Sequence[float]) -> Oracle:
    bins = list(itertools.pairwise(edges))

    def oracle(values: Values) -> list[int]:
        found = present(values)
        counts = [sum(low <= v < high for v in found) for low, high in bins]
        counts[-1] += sum(v == edges[-1] for v in found)
        return counts

    return oracle


# ---- sketches: MurmurHash3 x64 128 with seed 9001 -----------------------------------------------

_MASK = (1 << 64) - 1


def _turn(x: int, by: int) -> int:
    return ((x << by) | (x >> (64 - by))) & _MASK


def _mix(k: int) -> int:
    k = ((k ^ (k >> 33)) * 0xFF51AFD7ED558CCD) & _MASK
    k = ((k ^ (k >> 33)) * 0xC4CEB9FE1A85EC53) & _MASK
    return k ^ (k >> 33)


def murmur3(data: bytes, seed: int = 9001) -> tuple[int, int]:
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = seed

    def scramble(word: bytes, one: int, by: int, two: int) -> int:
        return (_turn((int.from_bytes(word, "little") * one) & _MASK, by) * two) & _MASK

    whole = len(data) - len(data) % 16
    for at in range(0, whole, 16):
        h1 = _turn(h1 ^ scramble(data[at : at + 8], c1, 31, c2), 27)
        h1 = ((h1 + h2) * 5 + 0x52DCE729) & _MASK
        h2 = _turn(h2 ^ scramble(data[at + 8 : at + 16], c2, 33, c1), 31)
        h2 = ((h2 + h1) * 5 + 0x38495AB5) & _MASK
    rest = data[whole:]
    h2 ^= scramble(rest[8:], c2, 33, c1)
    h1 ^= scramble(rest[:8], c1, 31, c2)
    h1, h2 = h1 ^ len(data), h2 ^ len(data)
    h1 = (h1 + h2) & _MASK
    h1, h2 = _mix(h1), _mix((h2 + h1) & _MASK)
    h1 = (h1 + h2) & _MASK
    return h1, (h2 + h1) & _MASK


def hashed(value: Any) -> tuple[int, int]:
    """Hash an int, str or bytes value as Apache DataSketches does."""
    if isinstance(value, str):
        value = value.encode()
    elif isinstance(value, int):
        value = value.to_bytes(8, "little", signed=True)
    return murmur3(value)


def _steps(value: Any, n: int) -> list[int]:
    low = hashed(value)[0]
    return [(low + i * ((low >> 32) | 1)) & _MASK for i in range(n)]


def bloom(bits: int, hashes: int) -> Callable[[Values], bytes]:
    """The bits of the filter."""

    def oracle(values: Values) -> bytes:
        filled = 0
        for v in present(values):
            for step in _steps(v, hashes):
                filled |= 1 << (step % bits)
        return filled.to_bytes(bits // 8, "little")

    return oracle


def countmin(width: int, depth: int) -> Callable[[Values], list[list[int]]]:
    """The counters."""

    def oracle(values: Values) -> list[list[int]]:
        found: Counter[tuple[int, int]] = Counter()
        for v in present(values):
            found.update((row, s % width) for row, s in enumerate(_steps(v, depth)))
        return [[found[row, column] for column in range(width)] for row in range(depth)]

    return oracle


def hll_registers(lg_k: int) -> Callable[[Values], bytes]:
    def oracle(values: Values) -> bytes:
        registers = bytearray(1 << lg_k)
        for v in present(values):
            low, high = hashed(v)
            place = low % (1 << 26) % (1 << lg_k)
            registers[place] = max(registers[place], min(64 - high.bit_length(), 62) + 1)
        return bytes(registers)

    return oracle
