"""What sketch aggregates give: small objects that answer questions about a window."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sash import _core


@dataclass(frozen=True)
class Bloom:
    """A Bloom filter: no false negatives, a small share of false positives.

    >>> import sash
    >>> window = sash.DabaLite(sash.agg.bloom())
    >>> window.insert("tea")
    >>> window.query().contains("tea"), "coffee" in window.query()
    (True, False)
    """

    data: bytes
    hashes: int

    def contains(self, value: Any) -> bool:
        """Whether the value may be in the window; ``False`` is certain. O(hashes)."""
        return bool(_core.bloom_contains(self.data, self.hashes, value))

    __contains__ = contains

    @property
    def bits(self) -> int:
        """The number of bits."""
        return len(self.data) * 8

    def estimate(self) -> float:
        """About how many distinct values went in, from the share of bits that are set."""
        ones = int.from_bytes(self.data, "little").bit_count()
        if ones == self.bits:
            return math.inf
        return -self.bits / self.hashes * math.log1p(-ones / self.bits)

    def __repr__(self) -> str:
        return f"Bloom({self.bits} bits, about {self.estimate():.0f} values)"


@dataclass(frozen=True)
class CountMin:
    """A count-min sketch: how often a value occurred, never too low, seldom too high."""

    data: bytes
    width: int
    depth: int

    def count(self, value: Any) -> int:
        """Estimate how often the value occurred: at least the truth. O(depth)."""
        step = _core.hash_value(value)
        second = (step >> 32) | 1
        rows = range(self.depth)
        at = [r * self.width + ((step + r * second) & (self.width - 1)) for r in rows]
        return int(self.counters.ravel()[at].min())

    @property
    def counters(self) -> npt.NDArray[np.int64]:
        """The counters, ``depth`` rows of ``width``."""
        return np.frombuffer(self.data, np.int64).reshape(self.depth, self.width)

    def __repr__(self) -> str:
        return f"CountMin({self.depth} x {self.width}, {int(self.counters[0].sum())} values)"
