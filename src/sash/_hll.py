"""HyperLogLog registers in the format of Apache DataSketches, which Spark reads too.

The format is that of an ``HLL_8`` sketch that was merged: a preamble of 40 bytes, then a byte for
each register. Estimates are then computed from the registers alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_INTS, _VERSION, _FAMILY = 10, 1, 7
_EMPTY, _OUT_OF_ORDER = 4, 16
_HLL_MODE_HLL_8 = 2 | (2 << 2)
_PREAMBLE = np.dtype(
    [
        ("ints", "u1"),
        ("version", "u1"),
        ("family", "u1"),
        ("lg_k", "u1"),
        ("lg_array", "u1"),
        ("flags", "u1"),
        ("least", "u1"),
        ("mode", "u1"),
        ("hip", "<f8"),
        ("low_sum", "<f8"),
        ("high_sum", "<f8"),
        ("at_least", "<u4"),
        ("exceptions", "<u4"),
    ]
)


def hll_bytes(registers: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return each row of registers as a row of bytes that is a sketch."""
    n, k = registers.shape
    head = np.zeros(n, _PREAMBLE)
    head["ints"], head["version"], head["family"] = _INTS, _VERSION, _FAMILY
    head["lg_k"] = k.bit_length() - 1
    head["mode"] = _HLL_MODE_HLL_8
    powers = np.ldexp(1.0, -np.arange(64))
    low_powers = np.where(np.arange(64) < 32, powers, 0)
    for i, row in enumerate(registers):
        counts = np.bincount(row, minlength=64)[:64]
        head[i]["at_least"] = counts[0]
        head[i]["low_sum"] = counts @ low_powers
        head[i]["high_sum"] = counts @ (powers - low_powers)
    head["flags"] = np.where(head["at_least"] == k, _EMPTY | _OUT_OF_ORDER, _OUT_OF_ORDER)
    return np.concatenate([head.view(np.uint8).reshape(n, _PREAMBLE.itemsize), registers], axis=1)
