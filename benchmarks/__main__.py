"""Run the benchmarks and write their raw results."""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Callable
from pathlib import Path

from benchmarks import in_order, operators, rolling, spark_batch, spark_streams, trees
from benchmarks.measure import Row, machine, pin_one_core, table


def main() -> None:
    """Run what was asked for, print it as tables, keep it as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="which to run; all by default")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, a minute or two")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="real events")
    parser.add_argument("--output", type=Path, default=Path("build/benchmarks.json"))
    args = parser.parse_args()
    all_of_them: dict[str, Callable[[bool], list[Row]]] = {
        "throughput": in_order.throughput,
        "aggregates": in_order.aggregates,
        "latency": in_order.latency,
        "calls": in_order.calls,
        "distances": trees.distances,
        "bulks": trees.bulks,
        "widths": trees.widths,
        "memory": trees.memory,
        "bloom": trees.bloom,
        "rolling": rolling.rolling,
        "operator": operators.operator,
        "operator_memory": operators.operator_memory,
        "spark_rolling": spark_batch.spark_rolling,
        "spark_one_key": spark_batch.spark_one_key,
        "spark_windows": spark_batch.spark_windows,
        "spark_stream_slides": spark_streams.spark_stream_slides,
        "spark_stream_keys": spark_streams.spark_stream_keys,
        "spark_stream_live": spark_streams.spark_stream_live,
        "spark_stream_latency": spark_streams.spark_stream_latency,
        "spark_stream_soak": spark_streams.spark_stream_soak,
    }
    if args.data.is_dir():
        all_of_them["real_data"] = functools.partial(trees.real_data, folder=args.data)
    unknown = set(args.names) - set(all_of_them)
    if unknown:
        parser.error(f"no benchmark {sorted(unknown)[0]!r}; there are {', '.join(all_of_them)}")
    pin_one_core()
    facts = machine()
    print(", ".join(f"{k} {v}" for k, v in facts.items()))
    results: dict[str, object] = {"machine": facts}
    for name in args.names or all_of_them:
        run = all_of_them[name]
        rows = run(args.quick)
        results[name] = rows
        about = (run.func if isinstance(run, functools.partial) else run).__doc__
        print(f"\n{name}: {about}\n\n{table(rows)}", flush=True)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(json.dumps(results, indent=1))
    print(f"\nraw results: {args.output}")


if __name__ == "__main__":
    main()
