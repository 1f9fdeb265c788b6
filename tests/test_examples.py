"""Every example runs as its reader would run it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from patience import finished

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 3


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_example(example: Path, tmp_path: Path) -> None:
    ran = finished([sys.executable, example], cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()
    assert "Warning" not in ran.stderr
