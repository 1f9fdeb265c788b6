"""Who takes part in the figures of the FiBA and bulk papers, under which names."""

from __future__ import annotations

from benchmarks.papers.sweeps import Arguments

MONOIDS = ("sum", "geomean", "bloom")
"""A cheap aggregate, one in between, and one of 2 KB: the panels of most figures."""

_NARROW = {"leaf": 16, "fanout": 8}
FINGERS: dict[str, Arguments] = {
    "FingerTree": {"structure": "finger_tree"},
    "FingerTree 16/8": {"structure": "finger_tree", **_NARROW},
}
CLASSICS: dict[str, Arguments] = {
    "ClassicTree": {"structure": "classic_tree"},
    "ClassicTree 16/8": {"structure": "classic_tree", **_NARROW},
}
SHAPES = (
    "16/8 is a tree of at most 16 entries in a leaf and 8 children of a node; without a word it is "
    "78/48, and 40/16 for bloom. The paper's trees have 4 to 16 children."
)

IN_ORDER: dict[str, Arguments] = {
    "TwoStacks": {"structure": "two_stacks"},
    "TwoStacksLite": {"structure": "two_stacks_lite"},
    "Daba": {"structure": "daba"},
    "DabaLite": {"structure": "daba_lite"},
    "ReactiveAggregator": {"structure": "reactive_aggregator"},
}
