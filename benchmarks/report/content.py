"""What a report says, whatever it is written in: verdicts, tables, and where Sash is behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.experiment import Experiment, Verdict
from benchmarks.report.looks import is_peer, is_sash
from benchmarks.report.numbers import cost, sizes
from benchmarks.report.panels import Panel, panels
from benchmarks.report.violins import QUANTILES
from benchmarks.results import Line, Result

TITLE = "Sash, measured"
HOLDS = {"yes": "holds", "partly": "holds partly", "no": "does not hold"}
PEERS = "peers"
MARGIN = 1.1
HOW = (
    "Each experiment checks its answers before its times count. Competitors run in turns, in the "
    "same run, so that other load on the machine meets all of them; that load only ever adds to a "
    "time. So a run is what each of its parts, of a few milliseconds, took at best in several "
    "tries, where work has such parts; and a point is the best of its runs. Bands and whiskers go "
    "from the least run to the greatest, tables have the median and the greatest in brackets. "
    "Times are CPU times unless a label says otherwise. Trust the ratios within a plot more than "
    "the figures."
)
SOURCE = (
    "All plots, tables and sentences are made from the raw results, which are linked at each "
    "experiment, by `python -m benchmarks.report`."
)
BEHIND = (
    "Places where a peer beats Sash by more than 10%, computed from all "
    "experiments with peers. Where Sash has several lines in a plot, its first one counts."
)
_TITLES = {
    "fiba": ("FiBA", "Tangwongsan, Hirzel, Schneider: Optimal and General Out-of-Order "
             "Sliding-Window Aggregation, PVLDB 2019. Entries in any order."),
    "bulk": ("Bulk evictions and insertions", "Tangwongsan, Hirzel, Schneider: Out-of-Order "
             "Sliding-Window Aggregation with Efficient Bulk Evictions and Insertions, PVLDB 2023. "
             "Many entries that come or go at once."),
    "daba": ("DABA", "Tangwongsan, Hirzel, Schneider: In-Order Sliding-Window Aggregation in "
             "Worst-Case Constant Time, VLDB Journal 2021. Entries in order, no slow step."),
    "reactive": ("Reactive Aggregator", "Tangwongsan, Hirzel, Schneider, Wu: General Incremental "
                 "Sliding-Window Aggregation, PVLDB 2015. A flat tree of partial aggregates."),
    "scotty": ("Scotty", "Traub and others: Scotty: Efficient Window Aggregation for Out-of-Order "
               "Stream Processing, ICDE 2018. Many windows that share slices of one stream."),
    PEERS: ("Peers", "The same questions asked of other libraries, on the same rows. Every answer "
            "is compared with that of Sash."),
    "scaling": ("Scaling", "How costs grow with windows, keys and cores."),
    "predictions": ("Predictions", "What the model of `model.md` says of sizes that were not "
                    "measured, beside what was."),
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """An experiment with its result and what that says of its claim."""

    experiment: Experiment
    result: Result
    verdict: Verdict

    @property
    def name(self) -> str:
        """The name of the experiment, and of its files."""
        return self.experiment.name


@dataclass(frozen=True)
class Group:
    """A part of the report."""

    name: str
    title: str
    words: str
    entries: list[Entry]


@dataclass(frozen=True)
class Table:
    """Figures as text; the first column names the row."""

    title: str
    header: list[str]
    rows: list[list[str]]


def entries(experiments: Iterable[Experiment], results: dict[str, Result]) -> list[Entry]:
    """Return the experiments that have a result, judged."""
    return [
        Entry(experiment, results[experiment.name], experiment.judge(results[experiment.name]))
        for experiment in experiments
        if experiment.name in results
    ]


def groups(there: Sequence[Entry]) -> list[Group]:
    """Return the parts of the report, in the order of the experiments."""
    names = dict.fromkeys(entry.experiment.group for entry in there)
    return [
        Group(
            name,
            *_TITLES.get(name, (name.capitalize(), "")),
            [entry for entry in there if entry.experiment.group == name],
        )
        for name in names
    ]


def papers(there: Sequence[Entry]) -> list[Entry]:
    """Return what repeats a figure of a paper."""
    return [entry for entry in there if entry.experiment.source]


def split_source(source: str) -> tuple[str, str]:
    """Return the paper and the figure of a source such as "FiBA 2019, figure 11"."""
    paper, _, figure = source.partition(", ")
    return paper, figure


def summary(there: Sequence[Entry]) -> str:
    """Return what was measured, in a sentence or three."""
    figures = papers(there)
    counts = {holds: sum(x.verdict.holds == holds for x in figures) for holds in HOLDS}
    text = f"{len(there)} experiments, {len(figures)} of them after figures of papers."
    if figures:
        text += (
            f" Of the papers' conclusions, {counts['yes']} were seen here, {counts['partly']} in "
            f"part, {counts['no']} not."
        )
    if any(entry.result.quick for entry in there):
        text += " From a quick run: sizes are smaller and runs fewer than in a full one."
    return text


def facts(there: Sequence[Entry]) -> dict[str, str]:
    """Return when and on what it was measured; facts that changed on the way have all values."""
    results = [entry.result for entry in there]
    days = sorted(result.began for result in results if result.began) or [""]  # a model has none
    minutes = sum(result.seconds for result in results) / 60
    found = {
        "date": days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}",
        "time taken": f"{minutes:.0f} minutes",
    }
    keys = dict.fromkeys(key for result in results for key in result.machine)
    for key in keys:
        values = [result.machine[key] for result in results if key in result.machine]
        if key == "packages":
            found[key] = _versions(values)
        elif key == "load before":
            found[key] = " to ".join(dict.fromkeys((str(min(values)), str(max(values)))))
        else:
            found[key] = ", ".join(dict.fromkeys(str(value) for value in values))
    return found


def _versions(several: list[dict[str, str]]) -> str:
    pairs = dict.fromkeys(f"{name} {version}" for one in several for name, version in one.items())
    return ", ".join(pairs)


# ---- tables ------------------------------------------------------------------------------------


def tables(result: Result) -> list[Table]:
    """Return all costs with the runs' median and greatest, a table for each panel."""
    return [_quantiles(x) if x.violins else _costs(x, result.x_label) for x in panels(result)]


def _costs(panel: Panel, label: str) -> Table:
    words = sizes(panel.places)
    rows = [[words[x], *(_cell(line, x) for line in panel.lines)] for x in panel.places]
    return Table(panel.title, [label, *(line.name for line in panel.lines)], rows)


def _cell(line: Line, x: float | str) -> str:
    point = next((p for p in line.points if p.x == x), None)
    if point is None:
        return "-"
    if len(point.runs) == 1:
        return cost(point.cost)
    return f"{cost(point.cost)} ({cost(point.median)}, {cost(point.high)})"


def _quantiles(panel: Panel) -> Table:
    shown = {"min": "least", **QUANTILES, "max": "most", "mean": "mean"}
    rows = [[x.name, *(cost(x.quantiles[key]) for key in shown)] for x in panel.violins]
    return Table(panel.title, ["ns", *shown.values()], rows)


def parameters(result: Result) -> str:
    """Return what was set, in one line."""
    pairs = (f"{name} = {_plain(value)}" for name, value in result.parameters.items())
    return ", ".join(pairs)


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name} {_plain(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return " ".join(_plain(one) for one in value)
    return f"{value:,}" if type(value) is int else str(value)


# ---- where Sash is behind ----------------------------------------------------------------------


@dataclass(frozen=True)
class Loss:
    """A place where a peer is better than Sash."""

    entry: Entry
    panel: str
    place: str
    ours: str
    peer: str
    theirs: str
    times: float


def behind(there: Sequence[Entry]) -> list[Loss]:
    """Return where a peer beats the first line of Sash in its panel by more than 10%."""
    return [
        loss
        for entry in there
        if entry.experiment.group == PEERS
        for panel in panels(entry.result)
        if panel.lines
        for loss in _losses(entry, panel)
    ]


def _losses(entry: Entry, panel: Panel) -> Iterator[Loss]:
    ours = next((line for line in panel.lines if is_sash(line.name)), None)
    if ours is None:
        return
    peers = [line for line in panel.lines if is_peer(line.name)]
    words = sizes(panel.places)
    for x in (x for x in panel.places if ours.has(x)):
        for peer in (line for line in peers if line.has(x)):
            a, b = ours.at(x), peer.at(x)
            times = a / b if entry.result.lower_is_better else b / a
            if times > MARGIN:
                yield Loss(entry, panel.title, words[x], cost(a), peer.name, cost(b), times)
