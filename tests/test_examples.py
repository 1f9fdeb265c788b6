"""Every example runs as its reader would run it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from patience import finished

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


def marked(paths: list[Path]) -> list[Any]:
    """Examples that start Spark take long."""
    return [
        pytest.param(path, marks=pytest.mark.full) if path.stem.startswith("spark") else path
        for path in paths
    ]


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 3


@pytest.mark.parametrize("example", marked(EXAMPLES), ids=lambda p: p.stem)
def test_example(example: Path, tmp_path: Path) -> None:
    ran = finished([sys.executable, example], cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()
    assert "Warning" not in ran.stderr
