"""Violins of latencies, drawn from histograms, with their quantiles marked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from benchmarks.report.looks import Look
from benchmarks.report.numbers import log_ticks
from benchmarks.results import Violin
from sash.demo._charts import INK

QUANTILES = {"0.5": "median", "0.999": "99.9%", "0.99999": "99.999%"}
_SHAPES = {"0.5": "_", "0.999": "v", "0.99999": "D"}
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (0.0, "ns"))
HEIGHT = 3.3
_HALF = 0.42
_SMOOTH = 0.15  # of a doubling
_THIN = 0.006
"""What is below this share of the most is not seen; the thin line from least to most is."""


def draw(axes: Any, there: list[Violin], look: dict[str, Look]) -> None:
    """Draw violins beside each other, over a logarithmic axis of time."""
    for at, violin in enumerate(there):
        colour, told = look[violin.name].colour, violin.quantiles
        axes.plot([at, at], [told["min"], told["max"]], color=colour, linewidth=1, zorder=2)
        times, widths = outline(violin)
        axes.fill_betweenx(
            times, [at - w for w in widths], [at + w for w in widths], color=colour, alpha=0.75,
            linewidth=0, zorder=3,
        )  # fmt: skip
        for quantile, shape in _SHAPES.items():
            axes.plot(
                at, told[quantile], marker=shape, color=INK, markersize=13 if shape == "_" else 4.5,
                markeredgewidth=1.8 if shape == "_" else 0.6, linestyle="none", zorder=5,
            )  # fmt: skip
    low = min(x.quantiles["min"] for x in there)
    high = max(x.quantiles["max"] for x in there)
    axes.set_yscale("log")
    axes.set_ylim(low / 1.3, high * 1.3)
    axes.yaxis.set_major_locator(FixedLocator(log_ticks(low / 1.3, high * 1.3, most=8)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: time(y)))
    axes.set_xlim(-0.6, len(there) - 0.4)
    axes.set_xticks(range(len(there)), [x.name for x in there], rotation=28, ha="right")
    axes.tick_params(axis="x", pad=0)
    axes.grid(visible=False, axis="x")


def outline(violin: Violin) -> tuple[list[float], list[float]]:
    """Return times and half the width there: the density of the logarithm of time, smoothed.

    Clocks tick, in tens of nanoseconds on some machines; unsmoothed, a violin is a few lines.
    """
    centres = np.log2([float(start) + _width(float(start)) / 2 for start in violin.bins])
    counts = np.array(list(violin.bins.values()), np.float64)
    grid = np.arange(centres.min() - 3 * _SMOOTH, centres.max() + 3 * _SMOOTH, _SMOOTH / 4)
    apart = (grid[:, None] - centres[None, :]) / _SMOOTH
    density = np.exp(-(apart**2) / 2) @ counts
    share = density / density.max()
    share[share < _THIN] = 0
    seen = (share > 0) | (np.roll(share, 1) > 0) | (np.roll(share, -1) > 0)
    return (2 ** grid[seen]).tolist(), (share[seen] * _HALF).tolist()


def _width(start: float) -> float:
    """Return how wide a bin is that begins here: 16 to a power of two, and no less than 1 ns."""
    return max(1.0, 2.0 ** math.floor(math.log2(max(start, 1.0))) / 16)


def marks() -> list[Line2D]:
    """Return what the legend says of the marks."""
    return [
        Line2D(
            [], [], color=INK, marker=_SHAPES[quantile], linestyle="none", label=words,
            markersize=13 if quantile == "0.5" else 4.5,
            markeredgewidth=1.8 if quantile == "0.5" else 0.6,
        )
        for quantile, words in QUANTILES.items()
    ]  # fmt: skip


def time(ns: float) -> str:
    """Return a time in its unit: "50 ns", "1 ms"."""
    size, unit = next(x for x in _UNITS if ns >= x[0])
    return f"{ns / (size or 1):g} {unit}"
