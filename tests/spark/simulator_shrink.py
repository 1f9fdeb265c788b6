"""A plan that fails, made smaller: what can be left out while it fails is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from simulator import Failure, failure_of
from simulator_plans import Batch, Plan, Try

MOST = 400
"""Plans that are run; one that is not as small as it could be fails all the same."""


def shrunk(plan: Plan, failure: Failure) -> tuple[Plan, Failure]:
    """Return a smaller plan that fails in the same way, and what is wrong with it."""
    runs, smaller = 0, True
    while smaller:
        smaller = False
        for candidate in _smaller(plan):
            if runs == MOST:
                return plan, failure
            runs += 1
            found = failure_of(candidate)
            if found is not None and found.kind == failure.kind:
                plan, failure, smaller = candidate, found, True
                break
    return plan, failure


def _smaller(plan: Plan) -> Iterator[Plan]:
    half = len(plan.batches) // 2
    if half > 1:
        yield replace(plan, batches=plan.batches[:half])
        yield replace(plan, batches=plan.batches[half:])
    for i, batch in enumerate(plan.batches):
        others = plan.batches[:i], plan.batches[i + 1 :]
        yield replace(plan, batches=[*others[0], *others[1]])
        for less in _smaller_batch(batch):
            yield replace(plan, batches=[*others[0], less, *others[1]])
    if len(plan.query.windows) > 1:
        kinds = plan.query.windows
        for i in range(len(kinds)):
            yield replace(plan, query=replace(plan.query, windows=kinds[:i] + kinds[i + 1 :]))


def _smaller_batch(batch: Batch) -> Iterator[Batch]:
    if batch.replay:
        yield replace(batch, replay=batch.replay - 1)
    if batch.filtered is not None:
        yield replace(batch, filtered=None)
    if batch.tries:
        yield replace(batch, tries=[])
    if batch.commit != Try():
        yield replace(batch, commit=Try())
    for i in range(len(batch.tries)):
        yield replace(batch, tries=batch.tries[:i] + batch.tries[i + 1 :])
        for less in _smaller_try(batch.tries[i]):
            yield replace(batch, tries=[*batch.tries[:i], less, *batch.tries[i + 1 :]])
    for less in _smaller_try(batch.commit):
        yield replace(batch, commit=less)
    half = len(batch.rows) // 2
    if half:
        yield replace(batch, rows=batch.rows[:half])
        yield replace(batch, rows=batch.rows[half:])
    for i in range(len(batch.rows)):
        yield replace(batch, rows=batch.rows[:i] + batch.rows[i + 1 :])


def _smaller_try(attempt: Try) -> Iterator[Try]:
    if attempt.killed:
        yield replace(attempt, killed=[])
    if attempt.restart:
        yield replace(attempt, restart=False)
    if attempt.idle:
        yield replace(attempt, idle=False)
    for i in range(len(attempt.tasks)):
        yield replace(attempt, tasks=attempt.tasks[:i] + attempt.tasks[i + 1 :])
