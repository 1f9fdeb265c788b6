"""The command line: ``sash run job.toml`` and others.

It is an extra: ``pip install 'sash[cli]'``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    try:
        import pydantic  # noqa: F401
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        print(
            f"The command line needs {error.name}, not installed here: pip install 'sash[cli]'",
            file=sys.stderr,
        )
        return 3
    from sash.cli._app import run

    return run(arguments)
