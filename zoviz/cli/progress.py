"""The progress of a run on a terminal: a bar, and Ctrl-C."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from types import FrameType
from typing import Any

import numpy as np
from tqdm import tqdm

from zoviz.cli.command import FAILED, FINE, INFEASIBLE, INTERRUPTED, number, say, show
from zoviz.diagnosis.certificate import Certificate
from zoviz.oracle.samples import COUNTED
from zoviz.runs.engine.answer import Answer
from zoviz.runs.engine.columns import OBJECTIVE, VIOLATION
from zoviz.runs.run import Run

_EVERY = 0.1
"""Seconds between two looks."""
_MOST_LINES = 40
"""Lines of a design that are printed."""


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Return a context that SIGTERM ends as Ctrl-C does, even where Ctrl-C is ignored, as under nohup."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Watch:
    """Follows a run to its end and shows a progress bar.

    Ctrl-C (or SIGTERM) once stops after the step in progress and keeps everything; twice, at once.

    Parameters
    ----------
    run : Run
    quiet : bool
        Draw no bar.
    """

    def __init__(self, run: Run, quiet: bool) -> None:
        self._run, self._quiet, self._hits = run, quiet, 0

    def follow(self, begun: Callable[[], object] | None = None) -> None:
        """Start the run and wait for its end.

        Parameters
        ----------
        begun : callable, optional
            Called once when the run has begun.
        """
        before = {sign: signal.signal(sign, self._interrupt) for sign in (signal.SIGINT, signal.SIGTERM)}
        try:
            self._run.start()
            if begun is not None:
                begun()
            with self._bar() as bar:
                while self._run.active:
                    time.sleep(_EVERY)
                    self._advance(bar)
                self._advance(bar)
        finally:
            for sign, handler in before.items():
                signal.signal(sign, handler)

    @property
    def interrupted(self) -> bool:
        """Whether the user ended the run."""
        return self._hits > 0

    def _interrupt(self, *_: int | FrameType | None) -> None:
        self._hits += 1
        if self._hits > 1:
            raise KeyboardInterrupt
        say("\nStopping after this step; nothing is lost. Press Ctrl-C again to end at once.")
        self._run.stop()

    def _bar(self) -> tqdm:
        run = self._run
        by_calls = run.calls is not None or run.iterations is None
        total = run.calls if by_calls else run.iterations
        self._of = "calls" if by_calls else "iteration"
        unit = " calls" if by_calls else " it"
        return tqdm(total=total, unit=unit, disable=self._quiet, file=sys.stderr, dynamic_ncols=True, smoothing=0.1)

    def _advance(self, bar: tqdm) -> None:
        if self._quiet:
            return
        bar.n = getattr(self._run.progress, self._of)
        columns = self._run.trace.snapshot().columns
        parts = [f"{name} {number(_mean(columns[name]), 4)}" for name in (OBJECTIVE, VIOLATION) if name in columns]
        bar.set_postfix_str(", ".join(filter(None, [*parts, self._run.workers.sentence])), refresh=False)
        bar.refresh()


def _mean(column: np.ndarray) -> float | None:
    last = column[-1] if len(column) else np.empty(0)
    last = last[np.isfinite(last)]
    return float(last.mean()) if last.size else None


def best_replica(run: Run) -> int:
    """Return the replica with the best feasible point, the first where there is none."""
    known = np.isfinite(run.result.best_fun)
    return int(np.nanargmin(run.result.best_fun)) if known.any() else 0


def report(
    run: Run, as_json: bool, interrupted: bool, store: str | None, certificate: Certificate | None = None
) -> int:
    """Print the outcome, and its certificate where there is one, and return the exit code."""
    if not run.has_result:
        if as_json:
            show({"id": run.id, "status": run.status, "message": run.message})
        say(run.message)
        return INTERRUPTED if interrupted else FAILED
    if run.error is not None:
        say(run.message)
    result = run.result
    met = bool(np.isfinite(result.best_fun).any())
    feasible = met if run.answer is None else run.answer.feasible
    best = best_replica(run) if met else None
    if as_json:
        show(_document(run, best) | ({} if certificate is None else {"certificate": asdict(certificate)}))
    else:
        if run.error is None:
            print(result.message)
        if run.answer is None:  # the last iterate's; an answer has its own values below
            print(f"objective  {_spread(result.fun)}")
            print(f"violation  {_spread(result.violation)}")
        design = run.best_design
        names = design.variables, design.constraints
        print(_short(str(design)))
        seconds = run.progress.seconds
        most = {word: int(getattr(result, name).max()) for name, word in COUNTED.items()}
        calls = most.pop(COUNTED["calls"])  # a call's own sample is no news
        counts = [f"{calls:,} oracle calls", *(f"{n:,} {word}" for word, n in most.items() if n not in (0, calls))]
        each = f" in each of {run.replicas} replicas" if run.replicas > 1 else ""
        print(f"{', '.join(counts)}{each}, {result.nit:,} iterations, {seconds:.2f} s")
        if run.answer is not None and run.answer.certainty is not None:
            print(run.answer.certainty.listed(*names))
        if certificate is not None:
            print(f"{certificate.sentence}\n{certificate.certainty.listed(*names)}")
        if store:
            print(f"run {run.id[:8]} in {store}")
    if run.storage_message:
        say(run.storage_message)
    if run.error is not None or run.storage_message:
        return FAILED
    if interrupted:
        return INTERRUPTED
    return FINE if feasible or run.problem.stochastic else INFEASIBLE


def _short(text: str) -> str:
    """Return a table's first lines; the whole of a large design is in --json."""
    lines = text.splitlines()
    more = [f"... and {len(lines) - _MOST_LINES} more (use --json for all)"] if len(lines) > _MOST_LINES else []
    return "\n".join([*lines[:_MOST_LINES], *more])


def _spread(values: np.ndarray) -> str:
    """Mean and standard error over the replicas."""
    values = values[np.isfinite(values)]
    if not values.size:
        return "-"
    error = "" if values.size < 2 else f" ± {number(float(values.std(ddof=1) / values.size**0.5), 2)}"
    return f"{number(float(values.mean()))}{error}"


def _of_answer(answer: Answer) -> dict[str, Any]:
    sure = answer.certainty
    return answer._asdict() | {"certainty": None if sure is None else asdict(sure) | {"sentence": sure.sentence}}


def _document(run: Run, best: int | None) -> dict[str, Any]:
    result = run.result
    return {
        "id": run.id,
        "problem": type(run.problem).__name__,
        "solver": type(run.solver).__name__,
        "status": result.status,
        "message": result.message,
        "seed": result.seed,
        "iterations": result.nit,
        "seconds": run.progress.seconds,
        **{name: getattr(result, name) for name in COUNTED},
        "failures": result.failures,
        "fun": result.fun,
        "violation": result.violation,
        "maxcv": result.maxcv,
        "success": result.success,
        "best_fun": None if best is None else result.best_fun[best],
        "best_x": None if best is None else result.best_x[best],
        "best_design": run.best_design.plain(),
        "answer": None if run.answer is None else _of_answer(run.answer),
        "x": result.x,
        "hits": {f"{target.metric} {target.threshold:g}": target.calls for target in run.hits},
        "parameters": dict(run.parameters),
    }
