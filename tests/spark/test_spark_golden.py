"""Shards of every released format go on as they did."""

from __future__ import annotations

import golden_files
import pytest
from golden_shards import CASES

from sash.spark import _shard_log


def test_every_format_has_its_files() -> None:
    golden_files.check_is_complete("shards", _shard_log.FORMAT, CASES)


@pytest.mark.parametrize(("number", "name"), golden_files.pairs("shards"), ids=str)
def test_they_are_read(number: int, name: str) -> None:
    golden_files.check("shards", number, name, CASES)
