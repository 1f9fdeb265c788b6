"""The report as markdown: an overview, and one page for each part."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from benchmarks.report import content
from benchmarks.report.content import Entry, Group, Table

OTHERS = {
    "model.md": "What a cluster and a billion entries would need",
    "claims.md": "Figures in the documentation",
    "repeat.md": "Two runs compared",
}


def pages(there: Sequence[Entry], raw: str, others: Collection[str] = ()) -> dict[str, str]:
    """Return the pages by file name, with links to ``others`` that are in the same folder.

    Raw results are in folder ``raw``, as seen from there.
    """
    groups = content.groups(there)
    found = {"README.md": _overview(there, groups, others)}
    for group in groups:
        found[f"{group.name}.md"] = "\n".join(_group(group, raw))
    return found


def _safe(text: str) -> str:
    """Return text as markdown shows it: no tags, no ends of cells, no emphasis by chance."""
    return re.sub(r"([|*])", r"\\\1", text.replace("<", "&lt;"))


def _link(entry: Entry, words: str) -> str:
    """Return a link from the overview to an experiment."""
    return f"[{_safe(words)}]({entry.experiment.group}.md#{entry.name})"


def _rows(header: Sequence[str], rows: Sequence[Sequence[str]], numbers: bool = False) -> list[str]:
    rule = ["---", *["--:" if numbers else "---"] * (len(header) - 1)]
    return [f"| {' | '.join(row)} |" for row in (header, rule, *rows)]


# ---- the overview ------------------------------------------------------------------------------


def _overview(there: Sequence[Entry], groups: list[Group], others: Collection[str]) -> str:
    facts = [[name, _safe(value)] for name, value in content.facts(there).items()]
    return "\n".join(
        [
            f"# {content.TITLE}",
            "",
            _safe(content.summary(there)),
            "",
            f"{_safe(content.HOW)} {content.SOURCE}",
            "",
            "[All of it as one page](report.html), to be opened from a checkout.",
            "",
            *_rows(["measured", ""], facts),
            "",
            "## Contents",
            "",
            *_contents(groups),
            *(f"- [{title}]({name})" for name, title in OTHERS.items() if name in others),
            "",
            *_papers(there),
            *_behind(there),
        ]
    )


def _contents(groups: list[Group]) -> Iterator[str]:
    for group in groups:
        yield f"- [{_safe(group.title)}]({group.name}.md)"
        for entry in group.entries:
            yield f"  - {_link(entry, entry.experiment.title)}"


def _papers(there: Sequence[Entry]) -> list[str]:
    rows = []
    for entry in content.papers(there):
        paper, figure = content.split_source(entry.experiment.source)
        holds = content.HOLDS[entry.verdict.holds]
        words = (_safe(x) for x in (entry.experiment.claim, holds, entry.verdict.seen))
        rows.append([_safe(paper), _link(entry, figure or entry.experiment.title), *words])
    if not rows:
        return []
    header = ["paper", "figure", "conclusion", "here", "seen"]
    return ["## What the papers say, and what was seen here", "", *_rows(header, rows), ""]


def _behind(there: Sequence[Entry]) -> list[str]:
    start = ["## Where Sash is behind", "", content.BEHIND, ""]
    rows = [
        [
            _link(x.entry, x.entry.experiment.title),
            _safe(", ".join(part for part in (x.panel, x.place) if part)),
            x.ours,
            f"{_safe(x.peer)} {x.theirs}",
            f"{x.times:.1f} times",
        ]
        for x in content.behind(there)
    ]
    if not rows:
        return [*start, "None.", ""]
    return [*start, *_rows(["experiment", "place", "Sash", "peer", "behind by"], rows), ""]


# ---- a part ------------------------------------------------------------------------------------


def _group(group: Group, raw: str) -> Iterator[str]:
    yield from [f"# {_safe(group.title)}", "", _safe(group.words), "", "[Overview](README.md)", ""]
    for entry in group.entries:
        yield from _entry(entry, raw)


def _entry(entry: Entry, raw: str) -> Iterator[str]:
    experiment, result = entry.experiment, entry.result
    holds = content.HOLDS[entry.verdict.holds]
    source = f" ({_safe(experiment.source)})" if experiment.source else ""
    yield from [
        f'<a id="{entry.name}"></a>',
        "",
        f"## {_safe(experiment.title)}",
        "",
        f"Claim{source}: {_safe(experiment.claim)}",
        "",
        f"Here it **{holds}**. {_safe(entry.verdict.seen)}",
        "",
        f"![{_safe(experiment.title)}](plots/{entry.name}.svg)",
        "",
    ]
    yield from _list("Checked", result.checks)
    yield from _list("Notes", result.notes)
    yield from ["<details><summary>Figures</summary>", ""]
    for table in content.tables(result):
        yield from _table(table)
    yield from ["</details>", ""]
    words = content.parameters(result)
    told = f"{_safe(words)}; {result.seconds:.0f} s" if words else f"{result.seconds:.0f} s"
    yield from [f"{told}; [raw results]({raw}/{entry.name}.json)", ""]


def _list(title: str, items: list[str]) -> list[str]:
    return [f"{title}:", "", *(f"- {_safe(item)}" for item in items), ""] if items else []


def _table(table: Table) -> list[str]:
    title = [f"**{_safe(table.title)}**", ""] if table.title else []
    header = [_safe(name) for name in table.header]
    rows = [[_safe(cell) for cell in row] for row in table.rows]
    return [*title, *_rows(header, rows, numbers=True), ""]
