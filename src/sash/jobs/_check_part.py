"""What the checks of a job share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sash.jobs._model import LENGTHS, JobFile, Part
from sash.jobs._places import Path as Place
from sash.jobs._problems import Problem, name_of


class Check:
    """Looks at a part of a job, and gathers what is wrong."""

    def __init__(self, job: JobFile, folder: Path) -> None:
        self.job, self.folder = job, folder
        self.problems: list[Problem] = []

    def say(self, path: Place, words: str) -> None:
        """Take note of a problem."""
        self.problems.append(Problem(path, words))

    def not_a_stream(self, path: Place) -> None:
        """Take note of what is for streams where there is none."""
        how = "leave it out, or follow the folder with stream = true under [source]"
        self.say(path, f"{name_of(path)} is for streams, and the source is not one: {how}.")

    def all_sinks(self) -> Iterator[tuple[Place, Part]]:
        """Yield the sinks, that of late rows too."""
        for i, sink in enumerate(self.job.sinks):
            yield ("sinks", i), sink
        if self.job.late_rows is not None:
            yield ("late_rows",), self.job.late_rows

    def all_lengths(self) -> Iterator[tuple[Place, str]]:
        """Yield all lengths of time that the job names."""
        job = self.job
        parts: list[tuple[Place, Part | None]] = [
            (("time",), job.time),
            (("rolling",), job.rolling),
        ]
        parts += [(("windows", i), window) for i, window in enumerate(job.windows)]
        parts += [(("run",), job.run)]
        for path, part in parts:
            for key in LENGTHS:
                length = getattr(part, key, None)
                if isinstance(length, str):
                    yield (*path, key), length
