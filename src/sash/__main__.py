"""The command line as a module, ``python -m sash``, and as a file for ``spark-submit``."""

from __future__ import annotations

import sys

from sash.cli import main

if __name__ == "__main__":
    sys.exit(main())
