"""Histories of every released format are read and written on."""

from __future__ import annotations

import golden_files
import pytest
from golden_history import CASES

from sash.live import _file


def test_every_format_has_its_files() -> None:
    golden_files.check_is_complete("history", _file.FORMAT, CASES)


@pytest.mark.parametrize(("number", "name"), golden_files.pairs("history"), ids=str)
def test_they_are_read(number: int, name: str) -> None:
    golden_files.check("history", number, name, CASES)
