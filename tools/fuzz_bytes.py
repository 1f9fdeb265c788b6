"""Let atheris find bytes for tests/hostile_bytes.py. Run by tools/fuzz.py, with its arguments."""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

with atheris.instrument_imports(include=["sash"]):
    import hostile_bytes
    import hostile_shards  # noqa: F401  (and what it imports)

    import sash.jobs  # noqa: F401


def main() -> None:
    """Fuzz until the time is over."""
    atheris.Setup(sys.argv, hostile_bytes.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
