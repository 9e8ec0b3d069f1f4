"""How often intervals of 95 % hold the truth where values repeat, and what the calls around an answer do for it.

A trial is a call of ``minimize`` from a start drawn around the problem's own. A budget of 1000 (n + 1) calls, which is
the default, leaves some of them for points around the answer; one of 12 or 20 (n + 1) leaves none. ``kind`` is *made*
for the problems by which the rules of ``zoviz.certainty`` were made, *judged* for those that had no part in them.

Columns: how often f* is determined; shares, in per cent, of intervals that hold f*, the multipliers of active rows, and
the minimum's variables where they are determined; rows called active that are not, or inactive though active, and
undecided ones; medians of the widths, of f* relative to 1 + |f*| and of multipliers relative to these; medians of the
calls in all and of those around x. ``alone``: by the calls of the search alone, as if none were made around x.

    zoviz reproduce certainty-without-noise --full
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from zoviz.certainty.calls import Calls
from zoviz.certainty.own_calls import nearby, repeating
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.minimize.minimize import minimize
from zoviz.papers.robustness.certainty_coverage import known_minimum, scored
from zoviz.papers.robustness.certainty_problems import JUDGED, PROBLEMS
from zoviz.problems import BlackBox
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials, grouped

AWAY = 0.3
"""Largest distance of a start from the problem's own, in half lengths that stand for the variables' scales."""


class ExactCertainty(Trials):
    """Coverage of the certainty's intervals where values repeat."""

    title = "certainty without noise"
    subject = "How often intervals of 95 % hold the truth where values repeat, in per cent"
    protocol = "Calls of minimize from random starts, with budgets in n + 1 calls."
    sizes: ClassVar = {
        "quick": {"problem": ("single",), "budget": (1000,), "seed": (0, 1)},
        "full": {"problem": tuple(PROBLEMS), "budget": (12, 20, 1000), "seed": tuple(range(20))},
    }
    lines = ("problem", "budget")
    shared = ("problem",)

    def reference(self, problem: str) -> Figures:
        return known_minimum(problem)

    def trial(self, problem: str, budget: int, seed: int, **truth: Any) -> Figures:
        posed, random = PROBLEMS[problem], np.random.default_rng(seed)
        lower, upper, made = posed.lower, posed.upper, []
        away = AWAY * random.uniform(-1.0, 1.0, len(lower))
        scale = np.minimum((upper - lower) / 4.0, np.maximum(1.0, np.abs(posed.start)))
        start = np.clip(posed.start + away * scale, lower, upper)

        def values(x: Array) -> tuple[float, Array]:
            outputs = posed.values(x)
            made.append((x.copy(), outputs))
            return float(outputs[0]), outputs[1:]

        bounds, m = list(zip(lower, upper, strict=True)), len(truth["active"])
        black_box = BlackBox(values, joint=True, m=m, bounds=bounds, x0=start, noise="deterministic")
        result = minimize(black_box, max_calls=budget * (len(lower) + 1), seed=seed)
        sure, box = result.certainty, Box(lower, upper)
        search = Calls(*(np.array(column) for column in zip(*made[: result.nfev - sure.calls], strict=True)))
        near, outputs = nearby(search, result.x, box), np.append(result.fun, result.h)
        alone = repeating([] if near is None else [near], result.x, outputs, result.multipliers, box, result.tolerance)
        return {
            **scored(sure, posed, truth, ""),
            **scored(alone, posed, truth, "alone "),
            "told": sure.tells_minimum,
            "alone told": alone.tells_minimum,
            "calls": result.nfev,
            "around": sure.calls,
            "size": 1.0 + abs(truth["f"]),
        }

    def rows(self, measured: Any) -> list[Row]:
        return [{"kind": "judged" if one["problem"] in JUDGED else "made", **one} for one in super().rows(measured)]

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        def percent(name: str, told: str = "") -> str:
            known = [one[name] for one in rows if not np.isnan(one[name]) and (not told or one[told])]
            return f"{100.0 * np.mean(known):.0f}" if known else ""

        def middle(name: str, size: str = "") -> str:
            known = [one[name] / (one[size] if size else 1.0) for one in rows if not np.isnan(one[name])]
            return f"{np.median(known):.2g}" if known else ""

        cells = {"kind": rows[0]["kind"], "trials": str(len(rows))}
        for prefix in ("", "alone "):
            cells |= {f"{prefix}told": percent(f"{prefix}told"), f"{prefix}f*": percent(f"{prefix}f*", f"{prefix}told")}
            cells |= {prefix + name: percent(prefix + name) for name in ("y", "x", "wrong", "undecided")}
            cells |= {f"{prefix}width f*": middle(f"{prefix}width f*", "size")}
            cells |= {f"{prefix}width y": middle(f"{prefix}width y")}
        return cells | {"calls": middle("calls"), "around": middle("around")}

    def totals(self, rows: Sequence[Row]) -> Iterator[tuple[Row, Sequence[Row]]]:
        for place, own in grouped(rows, "kind", "budget"):
            yield {"problem": f"all {place['kind']}", "budget": place["budget"]}, own
