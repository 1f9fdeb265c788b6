"""The page that shows a running pipeline: what it told is kept in a file, and served from there.

The pipeline writes a `History`, one transaction for each micro-batch. `serve` shows it in another
process, which needs no Spark, and which lives on when the pipeline stops or starts again.
"""

from sash.live._file import HistoryError, MissingHistoryError
from sash.live._history import History
from sash.live._server import Server, serve

__all__ = ["History", "HistoryError", "MissingHistoryError", "Server", "serve"]
