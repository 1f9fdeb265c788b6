"""What must hold of a job beyond the types of its values, checked before Spark is started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sash.jobs._check_results import Results
from sash.jobs._check_source import Source
from sash.jobs._check_streams import Streams
from sash.jobs._check_trust import Trust
from sash.jobs._model import JobFile
from sash.jobs._places import Path as Place
from sash.jobs._problems import Problem

_ASIDE = ("files_per_batch", "optional", "options", "rows_per_batch", "rows_per_second", "starting")
"""Keys of a source that change neither its columns nor whether it is a stream."""


def check(
    job: JobFile, folder: Path, allow_python: bool, broken: Sequence[Place] = ()
) -> tuple[list[Problem], Results]:
    """Look at everything; what follows from another problem is not reported.

    ``broken``: places in the file of values that are wrong by themselves, and left out of ``job``.
    """
    results = Results(job, folder, allow_python)
    knows_source = all(place[0] != "source" or place[-1] in _ASIDE for place in broken)
    problems = [*Trust(job, folder, allow_python).found(), *results.asked()]
    if knows_source:
        problems += [*Source(job, folder).found(), *Streams(job, folder).found()]
    problems = _apart(problems, broken)
    fitting = results.fitting(knows_source, whole=not problems and not broken)
    return [*problems, *_apart(fitting, [*broken, *(p.path for p in problems)])], results


def _apart(problems: list[Problem], places: Sequence[Place]) -> list[Problem]:
    """Return those problems that are not in, or around, one of the places."""
    inside, around = set(places), {part for place in places for part in _parts(place)}
    return [
        one
        for one in problems
        if one.path not in around and not any(part in inside for part in _parts(one.path))
    ]


def _parts(place: Place) -> list[Place]:
    """Return a place, and all that it is in.

    >>> _parts(("time", "column"))
    [('time',), ('time', 'column')]
    """
    return [place[: i + 1] for i in range(len(place))]
