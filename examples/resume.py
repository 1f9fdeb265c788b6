"""Stop in the middle of a stream and go on later as if nothing had happened.

Half of the stream goes through a window, which is then written to a file and forgotten. A second
window, restored from that file, takes the other half. Its answers are those of a window that saw
everything.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import sash
from sash import agg

SIZE = 1_000


def questions() -> list[sash.Aggregate]:
    """Return what is asked: restoring takes the same aggregates as saving."""
    return [agg.max("price"), agg.mean("price"), agg.hll("buyer").alias("buyers")]


def main() -> None:
    """Compare an interrupted run with one that was not."""
    rng = np.random.default_rng(11)
    column = {"price": rng.gamma(2.0, 10.0, 20_000), "buyer": rng.integers(0, 700, 20_000)}
    first = {name: values[:10_000] for name, values in column.items()}
    second = {name: values[10_000:] for name, values in column.items()}

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "window.sash"
        window = sash.DabaLite(questions())
        window.slide(first, SIZE)
        path.write_bytes(window.snapshot())
        print(f"saved {len(window):,} entries in {path.stat().st_size / 1024:,.0f} KB")
        resumed = sash.DabaLite.restore(path.read_bytes(), questions()).slide(second, SIZE)

    whole = sash.DabaLite(questions()).slide(column, SIZE)
    for name, values in whole.items():
        assert np.array_equal(values[10_000:], resumed[name]), name
        print(f"{name:10} ends at {values[-1]:8.2f} either way, as do all 10,000 answers before it")


if __name__ == "__main__":
    main()
