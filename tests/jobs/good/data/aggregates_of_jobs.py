"""An aggregate of a user's, as a job file may name one."""

from __future__ import annotations

from sash import agg

spread = agg.range()
