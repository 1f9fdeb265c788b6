"""What an experiment is: how it is run, what is claimed of it, and whether that holds here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from benchmarks.results import Result

T = TypeVar("T")
Holds = Literal["yes", "partly", "no"]


@dataclass(frozen=True)
class Plan:
    """How much to measure."""

    quick: bool
    data: Path
    """Where real events may be; the flights that come by pip are used where there are none."""
    number: int = 1
    """Of the pass over all experiments."""

    def pick(self, quick: T, full: T) -> T:
        """Return what fits a quick run, or a full one."""
        return quick if self.quick else full

    @property
    def repeat(self) -> int:
        """How often each competitor is run at each point of a pass, in turns with the others."""
        return 2

    @property
    def tries(self) -> int:
        """How many tries make a run, where one is short."""
        return self.pick(2, 4)


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds here, and what was seen, with figures, in a sentence or two."""

    holds: Holds
    seen: str


@dataclass(frozen=True)
class Experiment:
    """One figure of the report."""

    name: str
    """Of its files: letters, digits, underscores."""
    group: str
    """The part of the report: "fiba", "bulk", "daba", "reactive", "scotty", "peers", "scaling"."""
    title: str
    claim: str
    """What the paper concludes from this figure, or what we say of ourselves; in own words."""
    run: Callable[[Plan], Result]
    judge: Callable[[Result], Verdict]
    source: str = ""
    """Which figure of which paper, such as "FiBA 2019, figure 11"."""
