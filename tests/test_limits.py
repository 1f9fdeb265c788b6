"""What one call may ask for: refused in words, or done in bounded memory and time."""

from __future__ import annotations

import json
import sys

import limits
from patience import ONE_ALLOCATOR, finished


def test_what_is_too_much_is_refused_and_the_rest_done_in_bounds() -> None:
    done = finished([sys.executable, limits.__file__], **ONE_ALLOCATOR)
    assert done.returncode == 0, done.stderr[-1500:]
    outcomes: dict[str, str] = json.loads(done.stdout)
    assert outcomes.pop("memory").startswith("MemoryError")  # so the bounds hold
    wanted = {case: f"done: {result!r}" for case, (_, result) in limits.DONE.items()}
    assert {case: outcomes.pop(case) for case in limits.DONE} == wanted
    assert outcomes.keys() == limits.REFUSED.keys()
    wrong = {case: words for case, words in outcomes.items() if not words.startswith("refused: ")}
    assert wrong == {}
    assert min(map(len, outcomes.values())) > 30  # in words
