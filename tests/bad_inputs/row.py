"""What one row of a table says, and objects that behave badly on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn


@dataclass(frozen=True)
class Bad:
    """A call that must raise, and what its error says."""

    name: str
    call: Callable[..., Any]
    error: type[Exception]
    """The very type, not one below it."""
    words: str
    """A telling part of the message."""
    given: Callable[[], Any] | None = None
    """Makes what is called, which must be the same afterwards."""


class HostileError(Exception):
    """What hostile objects raise: it comes through, or is told as something else."""


class Hostile:
    """Raises whatever it is asked."""

    def __raise(self, *_: Any) -> NoReturn:
        raise HostileError("from within")

    __index__ = __int__ = __float__ = __len__ = __iter__ = __eq__ = __hash__ = __raise  # type: ignore[assignment]
    __lt__ = __bool__ = __array__ = __getitem__ = __raise

    def __repr__(self) -> str:
        return "<hostile>"


class Liar:
    """Says that it is shorter than it is, and that it is an array."""

    def __init__(self, says: int, has: int) -> None:
        self._says, self._has = says, has

    def __len__(self) -> int:
        return self._says

    def __iter__(self) -> Iterator[float]:
        return iter([1.0] * self._has)

    def __getitem__(self, place: int) -> float:
        if place < self._has:
            return 1.0
        raise IndexError(place)

    def __repr__(self) -> str:
        return "<liar>"


class Text(str):
    """A string of a class of its own."""


class Number(int):
    """An integer of a class of its own."""


def endless() -> Iterator[int]:
    """Never ends."""
    while True:
        yield 1


def nested(depth: int) -> list[Any]:
    """A list in a list in a list."""
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


def recursive() -> list[Any]:
    """A list that holds itself."""
    found: list[Any] = []
    found.append(found)
    return found
