"""The report as one HTML page that needs nothing else: its plots are inside."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from benchmarks.report import content, plots
from benchmarks.report.content import Entry, Group, Table
from benchmarks.results import Result

_CSS = Path(__file__).with_name("page.css")
_MOST_NOTES = 4
Draw = Callable[[Result, bool], str]


def page(there: Sequence[Entry], raw: str, draw: Draw = plots.inline) -> str:
    """Return the page; raw results are in folder ``raw``, as seen from it."""
    groups = content.groups(there)
    parts = [
        f"<h1>{content.TITLE}</h1>",
        f'<p class="lead">{_rich(content.summary(there))}</p>',
        f"<p>{_rich(content.HOW)} {_rich(content.SOURCE)}</p>",
        _facts(there),
        _contents(groups),
        _papers(there),
        _behind(there),
        *(part for group in groups for part in _group(group, raw, draw)),
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{content.TITLE}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_CSS.read_text(encoding='utf-8')}</style></head>\n<body>"
        + "\n".join(part for part in parts if part)
        + "</body></html>\n"
    )


def _rich(text: str) -> str:
    """Return text as HTML: code in backticks and powers are set as such."""
    safe = html.escape(text, quote=False)
    safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)
    return re.sub(r"(?<=\d)\^(-?\d+)", r"<sup>\1</sup>", safe)


def _facts(there: Sequence[Entry]) -> str:
    rows = "".join(
        f"<tr><th>{_rich(name)}</th><td>{_rich(value)}</td></tr>"
        for name, value in content.facts(there).items()
    )
    return f'<div class="scroll"><table class="facts">{rows}</table></div>'


def _contents(groups: list[Group]) -> str:
    parts = [
        '<li><a href="#papers">What the papers say</a></li>',
        '<li><a href="#behind">Where Sash is behind</a></li>',
    ]
    for group in groups:
        inside = "".join(
            f'<li><a href="#{x.name}">{_rich(x.experiment.title)}</a></li>' for x in group.entries
        )
        parts.append(f'<li><a href="#{group.name}">{_rich(group.title)}</a><ul>{inside}</ul></li>')
    return f"<nav><ul>{''.join(parts)}</ul></nav>"


def _badge(entry: Entry) -> str:
    holds = entry.verdict.holds
    return f'<span class="badge {holds}">{content.HOLDS[holds]}</span>'


def _papers(there: Sequence[Entry]) -> str:
    rows = []
    for entry in content.papers(there):
        paper, figure = content.split_source(entry.experiment.source)
        link = f'<a href="#{entry.name}">{_rich(figure or entry.experiment.title)}</a>'
        rows.append(
            f"<tr><td>{_rich(paper)}</td><td>{link}</td>"
            f"<td>{_rich(entry.experiment.claim)}</td><td>{_badge(entry)}</td>"
            f'<td data-of="Seen">{_rich(entry.verdict.seen)}</td></tr>'
        )
    if not rows:
        return ""
    return _section("papers", "What the papers say, and what was seen here") + _cards(
        ("paper", "figure", "conclusion", "here", "seen"), rows
    )


def _behind(there: Sequence[Entry]) -> str:
    rows = [
        f'<tr><td><a href="#{x.entry.name}">{_rich(x.entry.experiment.title)}</a></td>'
        f"<td>{_rich(', '.join(part for part in (x.panel, x.place) if part))}</td>"
        f'<td data-of="Sash">{_rich(x.ours)}</td><td>{_rich(f"{x.peer} {x.theirs}")}</td>'
        f'<td data-of="behind by">{x.times:.1f} times</td></tr>'
        for x in content.behind(there)
    ]
    start = _section("behind", "Where Sash is behind") + f"<p>{content.BEHIND}</p>"
    if not rows:
        return start + "<p>None.</p>"
    return start + _cards(("experiment", "place", "Sash", "peer", "behind by"), rows, "short")


def _section(name: str, title: str) -> str:
    return f'<h2 id="{name}">{_rich(title)}</h2>'


def _cards(header: Iterable[str], rows: list[str], kind: str = "") -> str:
    """Return a table whose rows are cards on narrow screens."""
    cells = "".join(f"<th>{name}</th>" for name in header)
    return (
        f'<div class="scroll"><table class="cards {kind}"><thead><tr>{cells}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _group(group: Group, raw: str, draw: Draw) -> Iterable[str]:
    yield _section(group.name, group.title)
    yield f'<p class="lead">{_rich(group.words)}</p>'
    for entry in group.entries:
        yield _entry(entry, raw, draw)


def _entry(entry: Entry, raw: str, draw: Draw) -> str:
    experiment, result = entry.experiment, entry.result
    label = html.escape(f"{experiment.title}: {result.y_label} by {result.x_label or 'structure'}")
    shapes = "".join(
        f'<div class="plot {shape}" role="img" aria-label="{label}">'
        f"{draw(result, shape == 'narrow')}</div>"
        for shape in ("wide", "narrow")
    )
    source = f'<p class="source">{_rich(experiment.source)}</p>' if experiment.source else ""
    tables = "".join(_table(table) for table in content.tables(result))
    return (
        f'<article id="{entry.name}"><h3>{_rich(experiment.title)}</h3>{source}'
        f'<dl class="says"><dt>Claim</dt><dd>{_rich(experiment.claim)}</dd>'
        f"<dt>Here</dt><dd>{_badge(entry)} {_rich(entry.verdict.seen)}</dd></dl>{shapes}"
        f"{_list('Checked', result.checks)}{_list('Notes', result.notes)}"
        f"<details><summary>Figures</summary>{tables}</details>"
        f'<p class="small">{_small(result)}'
        f'<a href="{html.escape(raw)}/{entry.name}.json">raw results</a></p></article>'
    )


def _small(result: Result) -> str:
    words = content.parameters(result)
    return f"{_rich(words)}; {result.seconds:.0f} s; " if words else f"{result.seconds:.0f} s; "


def _list(title: str, items: list[str]) -> str:
    if not items:
        return ""
    if len(items) == 1:
        return f'<p class="small">{title}: {_rich(items[0].rstrip("."))}.</p>'
    inside = f"<ul>{''.join(f'<li>{_rich(item)}</li>' for item in items)}</ul>"
    if len(items) > _MOST_NOTES:
        return f"<details><summary>{title} ({len(items)})</summary>{inside}</details>"
    return f'<p class="small">{title}:</p>{inside}'


def _table(table: Table) -> str:
    caption = f"<caption>{_rich(table.title)}</caption>" if table.title else ""
    head = "".join(f"<th>{_rich(name)}</th>" for name in table.header)
    rows = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in table.rows)
    return (
        f'<div class="scroll"><table class="figures">{caption}<thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(text: str) -> str:
    """Return a cell whose spread is small."""
    value, bracket, spread = _rich(text).partition(" (")
    return f"<td>{value}{f' <small>({spread}</small>' if bracket else ''}</td>"
