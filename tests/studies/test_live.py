"""What experiments declare for a page: runs as they were measured, with numbers that the papers print."""

from __future__ import annotations

import pytest

from zoviz.papers.zoeg.table_2 import PAPER
from zoviz.runs.engine.columns import GAP, ITERATION, NORMAL_RESIDUAL, STATIONARITY, VIOLATION
from zoviz.runs.references import Reference, order
from zoviz.studies.experiment import Experiment
from zoviz.studies.live import Live
from zoviz.studies.reproduction import Reproduction, experiment_named, experiments

DECLARED = [name for name, cls in experiments().items() if cls.live is not Experiment.live]


def lives(name: str) -> list[Live]:
    full = experiment_named(name)(size="full")
    return full.live(Reproduction.recorded(full).measured)


def test_two_experiments_of_each_paper_say_how_they_are_run() -> None:
    papers = [experiment_named(name).paper() for name in DECLARED]
    assert {paper: min(papers.count(paper), 2) for paper in papers} == dict.fromkeys(
        ("conex", "salm", "sogd", "splm", "zoeg"), 2
    )


@pytest.mark.parametrize("name", DECLARED)
def test_each_run_repeats_parts_that_the_experiment_has(name: str) -> None:
    own, full = lives(name), experiment_named(name)(size="full")
    assert own and len({one.title for one in own}) == len(own)
    for one in own:
        assert one.parts and set(one.parts) <= set(full.parts()), one.title
        assert one.solver.accepts(one.problem) in (None, "") or one.solver.missing_package, one.title
        assert {"iterations", "calls", "samples"} & one.settings.keys(), "a run has a budget"
        for line in one.references:
            assert len(line.x) == len(line.y) or 1 in (len(line.x), len(line.y)), line.label
            assert bool(line.x) == bool(line.axis), line.label


@pytest.mark.parametrize("name", DECLARED)
def test_without_recorded_figures_what_was_tuned_is_left_out(name: str) -> None:
    full = experiment_named(name)(size="full")
    some = full.live({})
    assert {one.title for one in some} <= {one.title for one in lives(name)}
    assert not any(line.label.startswith("paper: order") for one in some for line in one.references)


def test_printed_iterations_and_eps_stand_on_the_plot_of_stationarity() -> None:
    first, *others = lives("splm-table-2")
    assert [line.x for one in (first, *others) for line in one.references if line.x] == [(496,), (1374,), (2066,)]
    assert {line.column for line in first.references} == {STATIONARITY}
    assert [line.label for line in first.references] == ["paper: 496 iterations (Table 2)", "paper: ε = 1 (Table 2)"]


def test_printed_evaluations_are_iterations_of_the_papers_count() -> None:
    block_5 = lives("zoeg-table-2")[0]
    errors, violations = block_5.references
    assert (errors.column, violations.column, errors.axis) == (GAP, VIOLATION, ITERATION)
    assert [14.0 * x for x in (*errors.x, *violations.x)] == pytest.approx(PAPER[5])
    assert violations.y == (5.0, 1.0, 0.1) and errors.y[0] / errors.y[2] == pytest.approx(50.0)


def test_levels_of_tuned_applications_are_the_printed_ones() -> None:
    ours = {name: lives(name)[0].references for name in ("conex-table-1", "conex-table-2")}
    assert ours["conex-table-2"] == (Reference("objective", "SZO-ConEX 1.9", "Table 2", y=(1.9,)),)
    assert ours["conex-table-1"][0].y[0] == pytest.approx(-6.98472)  # -ln(10.8e4 / 100)
    rival = next(one for one in lives("conex-table-2") if one.title == "ALBO")
    assert [line.y for line in rival.references] == [(3.4,), (1.9,)]


def test_an_order_goes_through_our_mean_at_the_least_horizon_and_falls_as_printed() -> None:
    known = lives("salm-theorem-5-7")[0]
    line = next(one for one in known.references if one.column == NORMAL_RESIDUAL)
    full = experiment_named("salm-theorem-5-7")(size="full")
    values = Reproduction.recorded(full).measured["known rows / recursion / 1000"]["||v||"]
    at = {round(x): y for x, y in zip(line.x, line.y, strict=True)}
    assert "T^(-1/3)" in line.label and line.axis == ITERATION
    assert line.y[0] * 0.1 ** (1 / 3) == pytest.approx(sum(values) / len(values)), "x[0] is a tenth of the least T"
    assert at[32000] / at[100] == pytest.approx(320.0 ** (-1 / 3), rel=1e-6)


def test_an_order_is_a_line_through_its_point() -> None:
    line = order("gap", "Theorem 1", "K^(-1)", -1.0, (10.0, 3.0), (1.0, 100.0), ITERATION)
    assert [x * y for x, y in zip(line.x, line.y, strict=True)] == pytest.approx([30.0] * len(line.x))
    assert (line.x[0], line.x[-1]) == pytest.approx((1.0, 100.0)) and line.label == "paper: order K^(-1) (Theorem 1)"


def test_panels_say_which_parts_their_lines_were_made_of() -> None:
    measured_lines = 0
    for cls in experiments().values():
        full = cls(size="full")
        work = Reproduction.recorded(full)
        for panel in [] if work.missing else full.panels(work.measured):
            assert panel.parts, f"{cls.title}: {panel.heading}"
            assert panel.parts.keys() <= panel.lines.keys()
            for name in panel.parts:
                assert set(panel.parts[name]) <= set(full.parts()), f"{cls.title}: {name}"
                assert all(full.seeds(part) for part in panel.parts[name])
                measured_lines += 1
    assert measured_lines > 100
