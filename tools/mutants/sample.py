"""All mutants of the headers, and a choice of them that is the same every time."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from pathlib import Path

from .places import Mutant, find

ROOT = Path(__file__).parent.parent.parent
HEADERS = ROOT / "cpp" / "include"
# A test of the core, and how memory is asked for: nothing that an answer depends on.
LEFT_OUT = {"sash/tree/check.hpp", "sash/big_pages.hpp"}
SEED = 1


def every(headers: Path = HEADERS) -> list[Mutant]:
    """All mutants, in order of files and lines."""
    found = []
    for path in sorted(headers.rglob("*.hpp")):
        file = path.relative_to(headers).as_posix()
        if file not in LEFT_OUT:
            found += find(file, path.read_text())
    return found


def choose(mutants: list[Mutant], count: int) -> list[Mutant]:
    """``count`` of them, spread evenly over files and kinds; a larger choice holds a smaller one.

    The mutants of one file and kind are spread over [0, 1) in the order of their hashes; the
    choice is of those that come first. Swapped sides of combine are few and always among them.
    """
    strata: dict[tuple[str, str], list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        strata[mutant.file, mutant.kind].append(mutant)
    placed: list[tuple[float, str, Mutant]] = []
    for stratum, found in strata.items():
        members = sorted(found, key=lambda m: _hash(m.key))
        shift = _hash("/".join(stratum)) - (len(members) if stratum[1] == "sides" else 0)
        placed += [((rank + shift) / len(members), m.key, m) for rank, m in enumerate(members)]
    chosen = {m.key for _, _, m in sorted(placed, key=lambda entry: entry[:2])[:count]}
    return [m for m in mutants if m.key in chosen]


def _hash(text: str) -> float:
    digest = hashlib.sha256(f"{SEED}/{text}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
