"""A progress bar on the terminal, for those who ask for one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def tracked(steps: Iterable[int], total: int, show: bool) -> Iterator[int]:
    """Yield the sizes of finished steps, drawing how much of the total is done."""
    if not show:
        yield from steps
        return
    try:
        from rich.progress import Progress
    except ImportError as error:
        raise ImportError("progress=True needs Rich: pip install 'sash[progress]'") from error
    with Progress(transient=True) as bar:
        task = bar.add_task("rolling", total=total)
        for step in steps:
            bar.advance(task, step)
            yield step
