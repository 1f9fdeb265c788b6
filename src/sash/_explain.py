"""`explain`: what a rolling call would do, or what an operator does and keeps."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from sash._operator import WindowOperator
from sash._operator_explain import explain_operator, picture
from sash._rolling import Call, rolling, threads_of
from sash._tables import nearest


@dataclass(frozen=True)
class Explanation:
    """What is done, in words."""

    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__


def explain(what: Any, **arguments: Any) -> Explanation:
    """Say what `rolling` would do with these arguments, or what a `WindowOperator` does and keeps.

    For a Spark DataFrame it is what `sash.spark.rolling` would do, or with ``windows=`` what
    `sash.spark.windows` would.

    >>> import pyarrow as pa, sash
    >>> from sash import agg
    >>> table = pa.table({"t": [3, 1, 2], "price": [5.0, 7.0, 6.0]})
    >>> print(sash.explain(table, on="t", window=2, aggs=agg.max("price")))
    3 rows by 't', not in order: sorted first
    window 2: (t - 2, t]
      max_price: TwoStacksLite (associative, frames move one way)

    For an operator, ``key`` asks for a picture of that key's slices and windows, ``[===)`` complete
    and ``[---)`` not; without keys it is always there.

    >>> op = sash.WindowOperator(on="t", windows=[sash.tumbling(2)], aggs=agg.max("price"))
    >>> told = op.process(table)
    >>> print(sash.explain(op))
    windows over 't'
      tumbling_2: [k * 2, k * 2 + 2)
    aggregates: max_price (compiled in)
    2 slices
      cut where a window starts or ends
      kept in a list: there are few, so that folding them is cheap
    no watermark yet: nothing is complete
    3 rows taken, 0 too late; 0.1 KB
    <BLANKLINE>
        slices |                                   |
    tumbling_2 [-----------------------------------[----------------------------------)
               0                                                                      4
    """
    if isinstance(what, WindowOperator):
        return _explain_operator(what, **arguments)
    if type(what).__module__.startswith("pyspark."):
        from sash.spark._explain import explain_frame

        return Explanation(explain_frame(what, arguments))
    given = arguments_of(rolling, "rolling", what, arguments)
    threads = threads_of(given.pop("threads"))
    given.pop("progress")
    return Explanation(Call(**given).explain(threads))


def arguments_of(function: Any, name: str, what: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return all arguments that a function would be called with, or raise naming a wrong one."""
    known = inspect.signature(function)
    names = list(known.parameters)[1:]
    wrong = [a for a in arguments if a not in names]
    if wrong:
        raise TypeError(f"{name} has no argument {wrong[0]!r}{nearest(wrong[0], names)}")
    given = known.bind(what, **arguments)
    given.apply_defaults()
    return dict(given.arguments)


def _explain_operator(op: WindowOperator, **arguments: Any) -> Explanation:
    unknown = [a for a in arguments if a != "key"]
    if unknown:
        raise TypeError(f"explain of an operator takes key=, not {unknown[0]!r}")
    lines = explain_operator(op)
    if op._bound is not None and (not op._by or "key" in arguments):
        lines = (*lines, "", *picture(op, arguments.get("key")).splitlines())
    return Explanation(lines)
