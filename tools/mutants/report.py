"""The page docs/mutants.md, and the explanations of survivors that stand on it."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from .places import Mutant
from .results import Results
from .sample import ROOT

PAGE = ROOT / "docs" / "mutants.md"
EXPLAINED = Path(__file__).parent / "explained.toml"
_KINDS = {
    "sides": "the sides of a `combine` swapped",
    "comparison": "`<` for `<=`, `==` for `!=`, and the like",
    "connective": "`&&` for `||`, and back",
    "negation": "a `!` dropped",
    "arithmetic": "`+` for `-`, `*` for `+`, and the like",
    "bits": "`&` for `|`, `<<` for `>>`, and the like",
    "assignment": "`+=` for `-=`, and the like",
    "step": "`++` for `--`, outside the heads of loops",
    "off by one": "a number one larger",
    "constant": "`true` for `false`, and back",
    "extreme": "`min` for `max`, and back",
    "statement": "a statement dropped",
}
_AGGREGATES = {"scalars", "more_scalars", "sketches", "hashing", "record", "component", "small"}


def group(file: str) -> str:
    """What part of the core a header belongs to."""
    name = Path(file).stem
    for folder, title in (
        ("tree", "finger tree"),
        ("slicing", "window operator"),
        ("rolling", "rolling"),
    ):
        if f"/{folder}/" in file or name == "finger_tree":
            return title
    return "aggregates" if name in _AGGREGATES else "structures in order"


def explanations() -> dict[str, dict[str, str]]:
    """Return why mutants survive, by their keys."""
    return {e["key"]: e for e in tomllib.loads(EXPLAINED.read_text()).get("survivor", [])}


def write(mutants: list[Mutant], results: Results, possible: int) -> int:
    """Writes the page; 1 when a survivor is not explained."""
    explained = explanations()
    survivors = [m for m in mutants if not _by(results, m)]
    PAGE.write_text(_page(mutants, results, possible, survivors, explained))
    unknown = [m.key for m in survivors if m.key not in explained]
    for key in unknown:
        print(f"not explained in {EXPLAINED.name}: {key}")
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} mutants caught; see docs/{PAGE.name}")
    return 1 if unknown else 0


def _by(results: Results, mutant: Mutant) -> str:
    found = results.get(mutant)
    if found is None:
        raise SystemExit(f"no result yet of {mutant.key}: run without --report")
    return found.by


def _page(
    mutants: list[Mutant],
    results: Results,
    possible: int,
    survivors: list[Mutant],
    explained: dict[str, dict[str, str]],
) -> str:
    natively = sum((r := results.get(m)) is not None and r.native for m in mutants)
    caught = len(mutants) - len(survivors)
    same = sum(explained.get(m.key, {}).get("verdict") == "equivalent" for m in survivors)
    ways = Counter(r.how for m in mutants if (r := results.get(m)) and r.how)
    return "\n".join(
        [
            _INTRODUCTION,
            f"Of {possible:,} possible mutants {len(mutants)} were tried: all that swap the sides"
            " of a `combine`, and of the others a fixed choice, spread over headers and kinds.",
            "",
            "| | mutants | share |",
            "| --- | ---: | ---: |",
            f"| tried | {len(mutants)} | |",
            f"| caught | {caught} | {_share(caught, len(mutants))} |",
            f"| of these by the native tests | {natively} | {_share(natively, len(mutants))} |",
            f"| of these by the Python tests | {caught - natively}"
            f" | {_share(caught - natively, len(mutants))} |",
            f"| survived | {len(survivors)} | {_share(len(survivors), len(mutants))} |",
            f"| of these equivalent: no answer differs | {same} | |",
            f"| caught, of those that are not equivalent | {caught}"
            f" | {_share(caught, len(mutants) - same)} |",
            "",
            *_unfinished(survivors, results),
            f"In {ways['failed']} cases a test failed, in {ways['crashed']} the process crashed,"
            f" and in {ways['endless']} it did not end within several times its usual time.",
            "",
            "## By kind",
            "",
            *_table(mutants, results, lambda m: f"{m.kind}: {_KINDS[m.kind]}"),
            "",
            "## By part of the core",
            "",
            *_table(mutants, results, lambda m: group(m.file)),
            "",
            "## Survivors",
            "",
            *_survivors(survivors, explained),
            "",
        ]
    )


def _unfinished(survivors: list[Mutant], results: Results) -> list[str]:
    some = sum((r := results.get(m)) is not None and not r.python for m in survivors)
    if not some:
        return []
    return [
        f"Of the survivors {some} have met the native tests and the quicker ones of the Python"
        " tests, not all of them: more may be caught than is said here.",
        "",
    ]


def _table(mutants: list[Mutant], results: Results, of: Callable[[Mutant], str]) -> list[str]:
    tried = Counter(of(m) for m in mutants)
    caught = Counter(of(m) for m in mutants if _by(results, m))
    lines = ["| | tried | caught | share |", "| --- | ---: | ---: | ---: |"]
    for name in sorted(tried, key=lambda name: (-tried[name], name)):
        share = _share(caught[name], tried[name])
        lines.append(f"| {_cell(name)} | {tried[name]} | {caught[name]} | {share} |")
    return lines


def _survivors(survivors: list[Mutant], explained: dict[str, dict[str, str]]) -> list[str]:
    lines = ["| header | line | change | why it survives |", "| --- | --- | --- | --- |"]
    for m in survivors:
        note = explained.get(m.key, {"verdict": "open", "why": "Not explained yet."})
        verdict = "" if note["verdict"] == "equivalent" else f"**{note['verdict']}**: "
        change = m.change.partition(":")[0] if m.kind == "statement" else m.change
        cells = [_code(m.file.removeprefix("sash/")), _code(m.text), change, verdict + note["why"]]
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _code(text: str) -> str:
    return f"`{text}`"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else ""


_INTRODUCTION = """\
# Mutants: do the tests notice?

A test that passes says little until it has been seen to fail. Here small faults are put into the
headers of the core, one at a time, and the tests are run: a mutant is caught when a test fails,
crashes or does not end.

`make mutants` does it, and writes this page. All mutants are in one build, as switches:
`a < b` becomes `sash_mutant::less(17, a, b)`, which is `a <= b` while mutant 17 is on. A first
run without a mutant tells which test comes by which of them. A mutant meets the native tests
first, then those of the Python tests that come by it, the quickest first, each in a process of
its own. Left out are constant expressions, which a switch cannot change, `check_invariants()`,
which is a test itself, requests for memory ahead of its use, and prefetches.
"""
