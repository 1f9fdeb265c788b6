"""Write golden files of the current formats, where there are none: what later versions must read.

Run it after a format's number has changed, before the release, and commit what it writes. Files
that are there are never written again: they are what users have.
"""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "spark"), str(TESTS / "live")]


def main() -> int:
    """Write each kind that has no folder of its format."""
    import golden_cases
    import golden_files
    import golden_history
    import golden_shards

    from sash import _snapshot
    from sash.live import _file
    from sash.spark import _shard_log

    kinds = {
        "snapshots": (_snapshot.FORMAT, golden_cases.CASES),
        "shards": (_shard_log.FORMAT, golden_shards.CASES),
        "history": (_file.FORMAT, golden_history.CASES),
    }
    wrote = 0
    for kind, (number, cases) in kinds.items():
        if golden_files.folder(kind, number).exists():
            print(f"{kind}: format {number} has its files, which stay as they are")
            continue
        place = golden_files.write(kind, number, cases)
        size = sum(path.stat().st_size for path in place.iterdir())
        print(f"{kind}: wrote {len(cases)} cases of format {number}, {size:,} bytes")
        wrote += 1
    return 0 if wrote else 1


if __name__ == "__main__":
    sys.exit(main())
