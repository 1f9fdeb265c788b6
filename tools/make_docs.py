"""Write the generated pages of docs/: one page per structure, their table, the aggregates' table.

The facts come from where they are maintained: the cards at the top of the C++ headers, and the
aggregates themselves. The prose is in docs/parts. Every example is run while its page is made, and
the results in its comments are what it gave.

``--check`` writes nothing and exits with 1 when a page is stale.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
import textwrap
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import sash
from sash import agg

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
HEADERS = ROOT / "cpp" / "include" / "sash"
PARTS = DOCS / "parts"
NOTE = "<!-- Made by tools/make_docs.py from headers and docs/parts: run `make docs`. -->\n\n"

FIELDS = ("order", "laws", "time", "cost", "space", "paper", "use")
FIRST = ("TwoStacksLite", "DabaLite", "TwoStacks", "Daba", "SubtractOnEvict", "FingerTree")
PAPERS = {
    "000": "the FiBA paper",
    "001": "the bulk FiBA paper",
    "002": "the DABA paper",
    "003": "the Reactive Aggregator paper",
    "004": "the Scotty paper",
}


STATE = {
    "a few words": "all any argmax argmin count first geomean last max maxcount mean min mincount "
    "product range relative_variation stddev sum variance weighted_mean m4",
    "n words": "nth_youngest",
    "k words": "topk",
    "a word per bin": "histogram",
    "`bits` / 8 bytes": "bloom",
    "`2**lg_k` bytes": "hll",
    "`width * depth` words": "countmin",
    "a sketch, set by `k`": "quantiles",
    "grows with what is in the window": "collect concat distinct",
    "every value of the window": "count_distinct median mode quantile rank",
}
ESTIMATES = {"bloom", "hll", "countmin", "quantiles"}
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "nth_youngest": (2,),
    "quantile": (0.5,),
    "topk": (3,),
    "histogram": ([0.0, 1.0, 2.0],),
}


@dataclass(frozen=True)
class Card:
    """The comment at the top of a structure's header, taken apart."""

    name: str
    page: str
    fields: dict[str, str]
    prose: list[str]
    invariants: list[str]


def comment_of(header: Path) -> list[str]:
    """Return the comment lines a header opens with, without their slashes."""
    lines = []
    for line in header.read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].rstrip())
    return [re.sub(r"paper (00\d)", lambda m: PAPERS[m[1]], line) for line in lines]


def card_of(header: Path) -> Card | None:
    """Return the card of a header, if it has one."""
    lines = comment_of(header)
    fields: dict[str, str] = {}
    rest: list[str] = []
    current = ""
    for line in lines[1:]:
        found = re.match(rf"   ({'|'.join(FIELDS)})\s+(.*)", line) if not rest else None
        if found:
            current = "time" if found[1] == "cost" else found[1]
            fields[current] = found[2]
        elif current and not rest and line.startswith(" " * 8):
            fields[current] += ("<br>" if "   " in fields[current] else " ") + line.strip()
        elif rest or line:
            rest.append(line)
    if not {"order", "laws", "time", "space"} <= fields.keys():
        return None
    fields = {k: re.sub(" {3,}", ": ", v) for k, v in fields.items()}
    at = next((i for i, line in enumerate(rest) if line.startswith(" Invariant")), len(rest))
    name = re.split(r"\W", lines[0].strip())[0]
    return Card(name, f"{header.stem}.md", fields, rest[:at], rest[at:])


def cards() -> list[Card]:
    """Return all cards, the structures most people want first."""
    found = [card_of(header) for header in sorted(HEADERS.glob("*.hpp"))]
    rank = {name: i for i, name in enumerate(FIRST)}
    there = [c for c in found if c is not None]
    described = {p.name.removesuffix(".md.in") for p in PARTS.glob("*.md.in")}
    lost = {n for n in described if n in sash.__all__} - {c.name for c in there}
    if lost:
        sys.exit(f"no header opens with a whole card (order, laws, time, space) of {sorted(lost)}")
    return sorted(there, key=lambda c: (rank.get(c.name, len(rank)), c.name))


def run(code: str, names: dict[str, Any]) -> str:
    """Run an example and write what each expression marked ``# ->`` gave into its comment."""
    lines = code.splitlines()
    for node in ast.parse(code).body:
        at = (node.end_lineno or node.lineno) - 1
        if isinstance(node, ast.Expr) and lines[at].endswith("# ->"):
            value = eval(compile(ast.Expression(node.value), "<example>", "eval"), names)
            lines[at] = lines[at].removesuffix("->") + repr(value)
        else:
            with redirect_stdout(StringIO()) as said:
                exec(compile(ast.Module([node], []), "<example>", "exec"), names)
            for line in said.getvalue().splitlines():
                for piece in textwrap.wrap(line, 90, replace_whitespace=False):
                    lines[at] += f"\n# {piece}"
    return "\n".join(lines)


def part(name: str) -> str:
    """Return a part written by hand, with the results of its examples filled in."""
    text = (PARTS / f"{name}.md.in").read_text()
    fence = re.compile(r"(?<=```python\n).*?(?=\n```)", re.DOTALL)
    names: dict[str, Any] = {}  # a page is one session
    try:
        return fence.sub(lambda found: run(found[0], names), text)
    except Exception as error:
        raise RuntimeError(f"an example in docs/parts/{name}.md.in fails: {error}") from error


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in lines)


def block(lines: list[str]) -> str:
    """Return lines as a verbatim block, without what they are all indented by."""
    text = inspect.cleandoc("\n" + "\n".join(lines))
    return f"```text\n{text}\n```\n"


def page_of(card: Card) -> str:
    """Return the page of one structure."""
    kind = getattr(sash, card.name, None)
    rows = [[f"**{k}**", card.fields[k]] for k in FIELDS if k in card.fields]
    invariants = block(card.invariants)
    if any("daba_cycle" in line for line in card.invariants):
        invariants = block([*comment_of(HEADERS / "daba_cycle.hpp")[2:], "", *card.invariants])
    if kind is not None:
        summary = inspect.cleandoc(kind.__doc__).splitlines()[0]
        how = "## How it works\n\n" + part(card.name)
    else:
        summary = "In the C++ core; not in the Python package yet."
        how = "## From its header\n\n" + block(card.prose)
    return (
        f"{NOTE}# {card.name}\n\n{summary}\n\n{table(['', ''], rows)}\n{how}\n## Invariants\n\n"
        "What `check_invariants()` verifies; (x) stands for the aggregate's combine.\n\n"
        f"{invariants}\n"
        "[All structures](../structures.md) · [Which one when](../choosing.md)\n"
    )


def structures_page() -> str:
    """Return the table of structures."""
    columns = ("order", "laws", "time", "space", "use")
    rows = [
        [f"[{c.name}](structures/{c.page})", *(c.fields.get(f, "") for f in columns)]
        for c in cards()
    ]
    head = ["structure", "order", "laws it needs", "time in combines", "space", "use it for"]
    return NOTE + part("structures").replace("{{table}}", table(head, rows))


def _described(name: str) -> list[str]:
    function = getattr(agg, name)
    arguments = ARGUMENTS.get(name, ())
    made = {}
    takes = inspect.signature(function).parameters
    for dtype in ("float", "int", "bool", "object") if "dtype" in takes else ("",):
        try:
            made[dtype] = function(*arguments, **({"dtype": dtype} if dtype else {}))
        except TypeError:
            continue
    default = next(iter(made.values()))
    laws = [_law({d: getattr(a.laws, law) for d, a in made.items()}) for law in LAWS]
    what = inspect.cleandoc(function.__doc__).replace("\n", " ").split(". ")[0].rstrip(".")
    needed = [p.name for p in takes.values() if p.default is p.empty]
    native = [d for d, a in made.items() if a.python is None]
    runs = "native" if len(native) == len(made) else "Python" if not native else "native"
    if native and len(native) < len(made):
        runs += "; `object` in Python"
    inputs = " ".join(made) if "" not in made else default.dtype
    if default.dtype == "object" and "" in made:
        inputs = "float" if name == "quantiles" else "any value"
    if name in ("count", "count_distinct", "mode", "rank"):
        inputs = "any value"
    if not default.native and default.python is None:
        runs = "in `sash.rolling`"
    if len(default.columns) > 1:
        second = {"m4": "a time", "weighted_mean": "a weight"}.get(name, "an argument")
        inputs += f", with {second}"
    size = next(size for size, names in STATE.items() if name in names.split())
    result = f"{default.result}, an estimate" if name in ESTIMATES else default.result
    call = f"`{name}({', '.join(needed)})`"
    return [call, what.replace("``", "`"), inputs, result, *laws, runs, size]


LAWS = ("invertible", "commutative", "idempotent", "exact")


def _law(held: dict[str, bool]) -> str:
    if len(set(held.values())) == 1:
        return "yes" if next(iter(held.values())) else "no"
    return ", ".join(d for d, h in held.items() if h)


def aggregates_page() -> str:
    """Return the table of aggregates."""
    head = ["aggregate", "what", "values", "result", *LAWS, "runs", "state"]
    rows = [_described(name) for name in sorted(agg.__all__)]
    return NOTE + part("aggregates").replace("{{table}}", table(head, rows))


def pages() -> dict[Path, str]:
    """Return every generated page with its contents."""
    made = {DOCS / "structures" / card.page: page_of(card) for card in cards()}
    made[DOCS / "structures.md"] = structures_page()
    made[DOCS / "aggregates.md"] = aggregates_page()
    speed = (PARTS / "rolling_speed.md").read_text()
    made[DOCS / "rolling.md"] = NOTE + part("rolling_guide").replace("{{speed}}", speed.rstrip())
    return made


def main() -> int:
    """Write the pages, or say which are stale."""
    parser = argparse.ArgumentParser(description="Write the generated pages of docs/.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    check = parser.parse_args().check
    made = pages()
    stale = [p for p, text in made.items() if not p.exists() or p.read_text() != text]
    stray = sorted(set((DOCS / "structures").glob("*.md")) - set(made))
    if check:
        for path in [*stale, *stray]:
            print(f"stale: {path.relative_to(ROOT)}", file=sys.stderr)
        if stale or stray:
            print("run `make docs` to write them anew", file=sys.stderr)
        return 1 if stale or stray else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made[path])
    for path in stray:
        path.unlink()
    print(f"{len(stale)} of {len(made)} pages written, {len(stray)} removed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
