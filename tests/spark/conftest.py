"""One Spark session for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sash import spark as sps


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    session = sps.local_session(
        2,
        {
            "spark.sql.session.timeZone": "America/New_York",  # nothing may depend on it
            "spark.driver.memory": "2g",
            "spark.sql.shuffle.partitions": 3,
            "spark.sql.execution.arrow.maxRecordsPerBatch": 500,  # keys cross batches
        },
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
