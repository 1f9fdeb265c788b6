"""The aggregates that are sketches: small states, approximate answers. Public in `sash.agg`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import pyarrow as pa

from sash import _core
from sash._aggregate import Aggregate, Laws, Native, PythonMonoid
from sash._define import (
    MAX_LIKE,
    MOST_STATE,
    SUM_LIKE,
    define,
    numbers,
    positive,
    power_of_two,
)
from sash._hll import hll_bytes
from sash.sketches import Bloom, CountMin


def _probe(value: Any) -> tuple[int, ...]:
    """Make the parameters of a sketch that is asked about one value only."""
    if value is None:
        return ()
    hashed = _core.hash_value(value)
    return (1, hashed - (1 << 64) if hashed >= 1 << 63 else hashed)


def bloom(
    column: str | None = None, *, bits: int = 1 << 14, hashes: int = 4, contains: Any = None
) -> Aggregate:
    """Keep a Bloom filter of the values. Result: a `sash.sketches.Bloom`; bool with ``contains``.

    ``contains=value`` asks one question of every window: may this value be in it? With 2^14 bits
    and 4 hashes about 1% of answers for 1,500 values are false positives.
    """
    ints = (
        power_of_two("bloom", "bits", bits, 64, 8 * MOST_STATE),
        positive("bloom", "hashes", hashes, 64),
    )
    probe = _probe(contains)
    native = {"object": Native("bloom", ("h",), "b" if probe else "B")}
    result = "bool" if probe else "Bloom"

    def finish(data: bytes) -> Bloom:
        return Bloom(data, hashes)

    more: dict[str, Any] = {"ints": ints + probe, "finish": finish}
    return define("bloom", (column,), object, MAX_LIKE, result, native, **more)


def hll(column: str | None = None, *, lg_k: int = 12, sketch: bool = False) -> Aggregate:
    """Estimate the number of distinct values by HyperLogLog. Result: int64.

    ``2**lg_k`` registers of a byte give a standard error of 1.04 / sqrt(2**lg_k): 1.6% by default.
    ``sketch=True`` gives the sketch itself, as bytes of Apache DataSketches: Spark's
    ``hll_sketch_estimate`` and ``hll_union`` read them, ``datasketches.hll_sketch.deserialize``
    does.
    """
    lg_k = positive("hll", "lg_k", lg_k)
    if not 4 <= lg_k <= 21:
        raise ValueError(f"hll: lg_k must be from 4 to 21, not {lg_k}")
    native = {"object": Native("hll", ("c",), "B" if sketch else "i")}
    laws = Laws(commutative=True, idempotent=True)

    def finish(data: bytes) -> bytes:
        return hll_bytes(np.frombuffer(data, np.uint8).reshape(1, -1)).tobytes()

    ints, result = ((lg_k, 1), "bytes") if sketch else ((lg_k,), "int64")
    more: dict[str, Any] = {"ints": ints, "finish": finish if sketch else None}
    return define("hll", (column,), object, laws, result, native, **more)


def countmin(
    column: str | None = None, *, width: int = 1 << 10, depth: int = 4, count: Any = None
) -> Aggregate:
    """Keep a count-min sketch. Result: a `sash.sketches.CountMin`; int64 with ``count``.

    ``count=value`` asks one question of every window: about how often does this value occur in it?
    """
    ints = (
        power_of_two("countmin", "width", width, 1, MOST_STATE // 8),
        positive("countmin", "depth", depth, 64),
    )
    if 8 * width * depth > MOST_STATE:
        raise ValueError(f"countmin: width times depth must be at most 2^21, not {width * depth}")
    probe = _probe(count)
    native = {"object": Native("countmin", ("h",), "i" if probe else "B")}
    result = "int64" if probe else "CountMin"

    def finish(data: bytes) -> CountMin:
        return CountMin(data, width, depth)

    more: dict[str, Any] = {"ints": ints + probe, "finish": finish}
    return define("countmin", (column,), object, SUM_LIKE, result, native, **more)


def quantiles(
    fractions: float | Sequence[float] = 0.5, column: str | None = None, *, k: int = 200
) -> Aggregate:
    """Estimate quantiles with the KLL sketch of Apache DataSketches.

    It is an extra: ``pip install 'sash[sketches]'``. Result: float64 for one fraction, else a list.
    The rank error is about 1.3% with ``k=200``.
    """
    try:
        from datasketches import kll_doubles_sketch
    except ImportError as error:
        raise ImportError(
            "agg.quantiles needs Apache DataSketches: pip install 'sash[sketches]'"
        ) from error
    single = isinstance(fractions, Real)
    wanted = list(numbers("quantiles", "fractions", [fractions] if single else fractions))
    if not wanted:
        raise ValueError("quantiles: name at least one fraction")
    if isinstance(k, bool) or not isinstance(k, int) or not 8 <= k <= 65535:
        raise ValueError(f"quantiles: k must be an integer from 8 to 65535, not {k!r}")
    for f in wanted:
        if not 0 <= f <= 1:
            raise ValueError(f"quantiles: a fraction lies between 0 and 1, not {f}")

    def lift(value: float) -> Any:
        sketch = kll_doubles_sketch(k)
        sketch.update(float(value))
        return sketch

    def combine(a: Any, b: Any) -> Any:
        merged = copy.copy(a)
        merged.merge(b)
        return merged

    def lower(sketch: Any) -> Any:
        if sketch.is_empty():
            return None
        found = [float(q) for q in sketch.get_quantiles(wanted)]
        return found[0] if single else found

    def load(data: bytes) -> Any:
        return kll_doubles_sketch.deserialize(data)

    python = PythonMonoid(combine, lift, lower, dump=lambda s: s.serialize(), load=load)
    laws = Laws(commutative=True, exact=False)
    more: dict[str, Any] = {"ints": (k,), "doubles": tuple(wanted)}
    more["returns"] = pa.float64() if single else pa.list_(pa.float64())
    return define("quantiles", (column,), object, laws, "float64", {}, python, **more)
