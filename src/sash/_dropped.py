"""The warning about batches of which many rows are dropped."""

from __future__ import annotations

import logging

_LOG = logging.getLogger("sash")
SHARE = 0.01
"""Of a batch: dropping more of its rows than this is worth a warning."""
_HINT = "If a row with a wrong time moved the watermark, see max_ahead in docs/operator.md."


class DroppedRows:
    """Warns when a batch loses many rows, and then each time that the total has doubled."""

    def __init__(self) -> None:
        self._warn_from = 1

    def note(self, rows: int, dropped: int, total: int, why: str, bounded: bool) -> None:
        """Note a batch, and how many rows were dropped of all so far."""
        if dropped <= rows * SHARE or total < self._warn_from:
            return
        self._warn_from = 2 * total
        share = f"{dropped:,} of the {rows:,} rows of a batch ({dropped / rows:.1%}) were dropped"
        _LOG.warning("%s: %s.%s", share, why, "" if bounded else f" {_HINT}")
