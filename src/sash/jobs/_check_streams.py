"""Checks of a job's times, and of what is for streams only."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from sash._durations import nanoseconds
from sash.jobs._check_part import Check
from sash.jobs._places import Path as Place
from sash.jobs._problems import Problem, name_of

_MICROSECOND, _MILLISECOND = 1_000, 1_000_000  # in nanoseconds
_LONGEST = 2**60 * _MICROSECOND
_LENGTHS = {  # the least, and what it has to be a multiple of
    "watermark": (0, _MILLISECOND),
    "lateness": (0, _MICROSECOND),
    "max_ahead": (0, _MICROSECOND),
    "size": (1, _MICROSECOND),
    "slide": (1, _MICROSECOND),
    "gap": (1, _MICROSECOND),
    "offset": (-_LONGEST, _MICROSECOND),
    "every": (0, 1),
}


class Streams(Check):
    """Looks at times and lengths of time."""

    def found(self) -> list[Problem]:
        """Return what is wrong."""
        self._time()
        self._lengths()
        self._stream_or_not()
        return self.problems

    def _time(self) -> None:
        time = self.job.time
        if time.format is not None and time.unit is not None:
            words = "a time is text (format) or a number (unit): leave one out."
            self.say(("time", "unit"), words)
        try:
            ZoneInfo(time.zone)
        except (KeyError, OSError, ValueError):
            words = f"[time] zone: {time.zone!r} is no time zone; write it like 'America/New_York'."
            self.say(("time", "zone"), words)

    def _lengths(self) -> None:
        """Look at the lengths of time, which the model has found to be some."""
        for path, length in self.all_lengths():
            least, unit = _LENGTHS[str(path[-1])]
            where, found = name_of(path), nanoseconds("", length)
            if found < least:
                bound = "above 0" if least else "at least 0"
                self.say(path, f'{where} must be {bound}, such as "10 minutes", not {length!r}.')
            elif found % unit:
                units = "milliseconds" if unit == _MILLISECOND else "microseconds"
                words = f"{where}: {length!r} is finer than Spark's clock: give whole {units}."
                self.say(path, words)
            elif abs(found) >= _LONGEST:
                words = (
                    f"{where}: {length!r} is longer than all times of Spark's: give a shorter one."
                )
                self.say(path, words)

    def _stream_or_not(self) -> None:
        job = self.job
        if job.streams:
            if job.time.ties:
                words = "ties is not for streams, whose rows have the order they come in"
                self.say(("time", "ties"), f"{words}: leave it out.")
            if job.time.watermark is None:
                words = "a stream needs a watermark, or no window would ever be complete: say how "
                words += 'much later than others rows may come, as in watermark = "10 minutes".'
                self.say(("time",), words)
            if job.run.shards is not None and not job.by:
                words = "shards divide the keys, and the job has none (by): leave it out."
                self.say(("run", "shards"), words)
            self._rolling_stream()
            return
        asked: dict[Place, Any] = {
            ("time", "watermark"): job.time.watermark,
            ("time", "lateness"): job.time.lateness,
            ("time", "max_ahead"): job.time.max_ahead,
            ("emit",): None if job.emit == "complete" else job.emit,
            ("live",): job.live,
            ("run", "every"): job.run.every,
            ("run", "checkpoint"): job.run.checkpoint,
            ("run", "shards"): job.run.shards,
            ("run", "until_caught_up"): job.run.until_caught_up or None,
        }
        for path, value in asked.items():
            if value is not None:
                self.not_a_stream(path)

    def _rolling_stream(self) -> None:
        rolling = self.job.rolling
        if rolling is None:
            return
        if self.job.emit != "complete":
            words = "emit is for [[windows]], and [rolling] tells rows when they are complete"
            self.say(("emit",), f"{words}: leave it out.")
        not_of_streams = {"rows": rolling.rows, "min_rows": rolling.min_rows or None}
        for key, value in not_of_streams.items():
            if value is not None:
                how = 'give a size = "1h"' if key == "rows" else "leave it out"
                self.say(("rolling", key), f"{key} is not for streams: {how}.")
        if rolling.closed in ("left", "neither"):
            words = 'of a stream, a window holds its own row: closed is "right" or "both".'
            self.say(("rolling", "closed"), words)
