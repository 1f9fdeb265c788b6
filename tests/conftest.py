"""Which tests run, and one Hypothesis profile for all: the same examples everywhere, no clock."""

from __future__ import annotations

import logging
import os
import signal

import depth
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "sash",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=depth.examples(100),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("sash")

os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
"""Of all JVMs that tests start: they do not run for long enough to be worth more compiling."""
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as of a job that a script starts with "&"
    signal.signal(signal.SIGINT, signal.default_int_handler)
logging.getLogger("sash").addHandler(logging.NullHandler())  # warnings are tested, not shown


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in depth.MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what does not run at this depth."""
    found = depth.chosen(items)
    left = set(items) - set(found)
    if left:
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = found
