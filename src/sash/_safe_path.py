"""Keep the current folder out of the places that Python imports from.

``python -m`` puts the folder it is started in first: a file ``numpy.py`` there would be run in
place of NumPy. Spark starts its Python workers that way. What a job may run is decided by
``--allow-python``, not by the files of the folder that somebody happens to be in.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "PYTHONSAFEPATH"
ALLOW_PYTHON = "--allow-python"


def _started_as_module() -> bool:
    """Whether this is the start of ``python -m sash``, before its ``__main__`` runs."""
    given = sys.orig_argv
    at = given.index("-m") if "-m" in given[:-1] else None
    return at is not None and sys.argv[:1] == ["-m"] and given[at + 1] == "sash"


def leave_out_current_folder() -> None:
    """Remove what ``python -m`` has put first, unless code of the job's folder is trusted."""
    if sys.flags.safe_path or not sys.path or ALLOW_PYTHON in sys.orig_argv:
        return
    if sys.path[0] in ("", str(Path.cwd())):
        del sys.path[0]


@contextmanager
def inherited() -> Iterator[None]:
    """Let processes that are started meanwhile, and what they start, leave it out too."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


if _started_as_module():
    leave_out_current_folder()
