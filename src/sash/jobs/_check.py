"""What must hold of a job beyond the types of its values, checked before Spark is started."""

from __future__ import annotations

from pathlib import Path

from sash.jobs._check_results import Results
from sash.jobs._check_source import Source
from sash.jobs._check_streams import Streams
from sash.jobs._check_trust import Trust
from sash.jobs._model import JobFile
from sash.jobs._problems import Problem


def check(job: JobFile, folder: Path, allow_python: bool) -> tuple[list[Problem], Results]:
    """Look at everything; what follows from another problem is not told."""
    results = Results(job, folder, allow_python)
    problems = [
        *Source(job, folder).found(),
        *Trust(job, folder, allow_python).found(),
        *Streams(job, folder).found(),
        *results.asked(),
    ]
    return problems or results.fitting(), results
