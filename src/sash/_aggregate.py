"""What an aggregate is: its functions, its laws, the columns it reads and the type it gives.

An :class:`Aggregate` is a description. It becomes a running monoid only when a structure compiles
it (see ``_compile.py``), natively where it can be, on Python objects otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa


@dataclass(frozen=True)
class Laws:
    """What an aggregate's combine obeys besides associativity; it decides what it may run on.

    ``invertible``: an entry can be taken out of the front again. ``commutative``: the order of
    entries does not matter. ``idempotent``: an entry counted twice changes nothing. ``exact``:
    regrouping never changes the result, so every structure gives the very same one.
    """

    invertible: bool = False
    commutative: bool = False
    idempotent: bool = False
    exact: bool = True


@dataclass(frozen=True)
class Native:
    """How an aggregate runs natively on inputs of one type."""

    op: str
    """Its name in the core's registry."""
    inputs: tuple[str, ...]
    """A code for each input: f float64, i int64, b bool, h hash, c coupon, * any value."""
    output: str
    """A code for the result: f, i, b, or B for bytes handed to ``finish``."""
    scalar: bool = False
    """Whether structures are compiled for it alone, fully inlined."""


@dataclass(frozen=True)
class PythonMonoid:
    """How an aggregate runs on Python objects. ``None`` stands for the identity function."""

    combine: Callable[[Any, Any], Any]
    lift: Callable[[Any], Any] | None = None
    lower: Callable[[Any], Any] | None = None
    identity: Any = None
    inverse: Callable[[Any, Any], Any] | None = None
    skip_nulls: bool = True
    dump: Callable[[Any], bytes] | None = None
    load: Callable[[bytes], Any] | None = None


def repeated(names: Iterable[str]) -> str | None:
    """Return a name that is there more than once; the first in order of the alphabet."""
    return min((name for name, times in Counter(names).items() if times > 1), default=None)


_DTYPES: Mapping[Any, str] = {float: "float", int: "int", bool: "bool", object: "object"}


def dtype_name(dtype: Any) -> str:
    """``"float"``, ``"int"``, ``"bool"`` or ``"object"`` for any usual spelling of it."""
    try:
        if dtype in _DTYPES:
            return _DTYPES[dtype]
        if dtype in ("float", "int", "bool", "object"):
            return str(dtype)
        kind = "?" if dtype is None else np.dtype(dtype).kind  # NumPy takes None for float
    except TypeError:
        kind = "?"
    names = {"f": "float", "i": "int", "u": "int", "b": "bool", "O": "object"}
    if kind not in names:
        raise TypeError(f"dtype must be float, int, bool or object, not {dtype!r}")
    return names[kind]


@dataclass(frozen=True)
class Aggregate:
    """One aggregation: what `sash.agg` functions and `sash.monoid` make.

    Pass it to a structure (``sash.DabaLite(agg.max())``), or several in a list. ``on`` names other
    columns, ``alias`` the result.

    >>> from sash import agg
    >>> agg.sum("amount").output
    'sum_amount'
    >>> agg.sum("amount").alias("total").output
    'total'
    >>> agg.max().laws.commutative
    True
    """

    name: str
    columns: tuple[str | None, ...]
    laws: Laws
    result: str
    """The type of the result, in words."""
    dtype: str = "float"
    native: Mapping[str, Native] = field(default_factory=dict, repr=False)
    python: PythonMonoid | None = field(default=None, repr=False)
    ints: tuple[int, ...] = ()
    doubles: tuple[float, ...] = ()
    finish: Callable[[bytes], Any] | None = field(default=None, repr=False)
    named: str | None = None
    returns: pa.DataType | None = None
    """The Arrow type of the results of Python functions, where it was given."""
    made: tuple[str, list[Any], dict[str, Any]] | None = field(
        default=None, repr=False, compare=False
    )
    """The function of `sash.agg` that made it, and its arguments (see ``_recipe.py``)."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"the name of an aggregate is a non-empty string, not {self.name!r}")
        for column in self.columns:
            if column is not None and not isinstance(column, str):
                raise TypeError(f"{self.name}: a column is named by a string, not {column!r}")

    @property
    def output(self) -> str:
        """The name of the result column."""
        if self.named is not None:
            return self.named
        if self.columns and self.columns[0] is not None:
            return f"{self.name}_{self.columns[0]}"
        return self.name

    def alias(self, name: str) -> Aggregate:
        """Return the same aggregate with its result under another name."""
        if not isinstance(name, str) or not name:
            raise TypeError(f"an alias is a non-empty string, not {name!r}")
        return replace(self, named=name)

    def on(self, *columns: str) -> Aggregate:
        """Return the same aggregate over other columns."""
        if len(columns) != len(self.columns):
            raise TypeError(f"{self.name} reads {len(self.columns)} columns, got {len(columns)}")
        return replace(self, columns=columns)

    def signature(self) -> str:
        """Tell this aggregate from others: what a snapshot must agree with."""
        parts = [self.name, self.dtype, self.result]
        parts += [*map(str, self.ints), *map(repr, self.doubles)]
        return ":".join(parts)

    def __repr__(self) -> str:
        columns = ", ".join(c for c in self.columns if c is not None)
        alias = f".alias({self.named!r})" if self.named is not None else ""
        return f"{self.name}({columns}){alias}"


def monoid(
    combine: Callable[[Any, Any], Any],
    *,
    lift: Callable[[Any], Any] | None = None,
    lower: Callable[[Any], Any] | None = None,
    identity: Any = None,
    inverse: Callable[[Any, Any], Any] | None = None,
    commutative: bool = False,
    idempotent: bool = False,
    exact: bool = True,
    skip_nulls: bool = True,
    name: str = "monoid",
    column: str | None = None,
    dump: Callable[[Any], bytes] | None = None,
    load: Callable[[bytes], Any] | None = None,
    returns: Any = None,
) -> Aggregate:
    """Make an aggregate from Python functions. Only ``combine`` is needed, and only associativity.

    ``lift`` makes a state of one value, ``combine`` one state of two (older on the left), ``lower``
    the result of a state. States are values: ``combine`` must return a new one and leave its
    arguments alone. Without an ``identity`` Sash adjoins one, and an empty window gives ``None``.
    ``inverse(state, entry)`` takes the oldest entry out of a state again. Null values are skipped
    unless ``skip_nulls=False``. ``dump`` and ``load`` turn a state into bytes and back for
    snapshots, where states are not plain Python data.

    ``returns`` is the type of the results: ``float``, ``int``, ``str``, ``bool``, ``bytes`` or an
    Arrow type. Tables find it out from the results where it is not given; Spark has to be told.

    >>> import sash
    >>> longest = sash.monoid(lambda a, b: max(a, b, key=len), name="longest")
    >>> window = sash.DabaLite(longest)
    >>> for word in ["a", "window", "sash"]:
    ...     window.insert(word)
    >>> window.query()
    'window'
    """
    given = {"combine": combine, "lift": lift, "lower": lower, "inverse": inverse}
    for what, f in {**given, "dump": dump, "load": load}.items():
        if f is not None and not callable(f):
            raise TypeError(f"{what} must be a function, not {f!r}")
    if not callable(combine):
        raise TypeError("combine must be a function of two states, not None")
    functions = PythonMonoid(combine, lift, lower, identity, inverse, skip_nulls, dump, load)
    laws = Laws(inverse is not None, commutative, idempotent, exact)
    kind = None if returns is None else _arrow_type(returns)
    return Aggregate(name, (column,), laws, "any", "object", {}, functions, returns=kind)


def _arrow_type(returns: Any) -> pa.DataType:
    if isinstance(returns, pa.DataType):
        return returns
    plain = {float: "float64", int: "int64", str: "string", bool: "bool", bytes: "binary"}
    try:
        name = plain.get(returns, returns)
        return pa.type_for_alias(name)
    except (TypeError, ValueError):
        raise TypeError(
            "returns must be float, int, str, bool, bytes or an Arrow type such as "
            f"pyarrow.list_(pyarrow.float64()), not {returns!r}"
        ) from None
