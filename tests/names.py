"""Names that columns, results and windows may have, one table of them for the tests of all layers.

A name must come out of every layer as it went in, or be refused in words: never be read as SQL, as
a path, as a pattern or as code.
"""

from __future__ import annotations

ESCAPE = "\x1b[31mred\x1b[0m"
"""What would colour a terminal."""

HOSTILE: dict[str, str] = {
    "blank": "a b",
    "dot": "a.b",
    "backtick": "a`b",
    "only backticks": "``",
    "sql": "'; drop table results; --",
    "sql in double quotes": '"; drop table results; --',
    "sql in brackets": "x) from range(1); --",
    "single quote": "it's",
    "double quote": '"',
    "backslash": "a\\b",
    "backslash n": "a\\nb",
    "newline": "a\nb",
    "tab": "a\tb",
    "leading blank": " a",
    "trailing blank": "a ",
    "only a blank": " ",
    "emoji": "\N{SNOWMAN}\N{VARIATION SELECTOR-16}\N{ROCKET}",
    "right to left": "\u05e9\u05dc\u05d5\u05dd",
    "overridden direction": "a\N{RIGHT-TO-LEFT OVERRIDE}b",
    "combining": "e\N{COMBINING ACUTE ACCENT}",
    "composed": "\N{LATIN SMALL LETTER E WITH ACUTE}",
    "zero width": "a\N{ZERO WIDTH SPACE}b",
    "escape code": ESCAPE,
    "star": "*",
    "regular expression": "^.*$",
    "polars pattern": "^a.*$",
    "braces": "{a}",
    "percent": "%s%n",
    "dollar": "${java:version}",
    "number": "1",
    "number of a column": "0",
    "null": "null",
    "none": "None",
    "keyword": "select",
    "dunder": "__class__",
    "path": "../../etc/passwd",
    "markup": "<script>alert(1)</script>",
    "rich markup": "[bold red]x[/]",
    "comma": "a,b",
    "colon": "a: b",
    "equals": "a=b",
    "comment": "a -- b /* c */",
    "long": "n" * 2000,
}
"""By what is odd about them. No two are the same, also where case is ignored."""

OWN = {
    "own column": "window_start",
    "own window": "window",
    "own revision": "revision",
    "own change": "change",
    "own complete": "complete",
}
"""Names of columns that results have themselves: refused for keys and results of windows."""

INTERNAL = {
    "time": "t",
    "key": "key",
    "a number": "number",
    "row": "row",
    "count": "count",
    "late": "late_row",
    "value": "value",
    "shard": "shard",
    "cell": "cell",
    "batch": "batch",
    "sash": "sash_",
    "state": "state",
    "order": "order",
    "index": "index",
}
"""Names that the code uses for something of its own, and that users may have none the less."""

CASES = ("price", "Price", "PRICE")
"""Names that differ in case alone."""

NAMES = {**HOSTILE, **INTERNAL}


assert len({name.casefold() for name in NAMES.values()}) == len(NAMES)
