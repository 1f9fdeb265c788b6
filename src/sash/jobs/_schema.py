"""The JSON Schema of job files, for editors that check as one types."""

from __future__ import annotations

from typing import Any

from sash.jobs._aggregates import schema_of_aggregates
from sash.jobs._model import JobFile


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a job file.

    >>> sorted(schema()["required"])
    ['aggregates', 'sinks', 'source', 'time']
    """
    made = JobFile.model_json_schema()
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = "A job of Sash"
    made["properties"]["aggregates"]["items"] = schema_of_aggregates()
    return made
