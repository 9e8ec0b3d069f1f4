"""``zoviz benchmark --standard``: runs, reports, compares and records the standing benchmark."""

from __future__ import annotations

import argparse
from importlib.metadata import version
from pathlib import Path

from zoviz.benchmark.standard.comparison import compared_versions, last_before
from zoviz.benchmark.standard.forms import FORMS, missing_packages, studies
from zoviz.benchmark.standard.records import record_of
from zoviz.benchmark.standard.report import report
from zoviz.cli.build import dask, open_store
from zoviz.cli.command import FINE, UsageError, say
from zoviz.cli.progress import ended_by_sigterm


def run_standard(args: argparse.Namespace, name: str) -> int:
    """Run what is missing of the standing benchmark, and print its report.

    Parameters
    ----------
    args : argparse.Namespace
        ``standard`` (the form), ``workers``, ``dask``, ``quiet``, ``plan``, ``store`` and ``record``.
    name : str
        Of its studies; runs of the same name are not run again, whatever has changed in the code.
    """
    form = FORMS[args.standard]
    if args.record and not Path(args.record).is_dir():
        raise UsageError(f"Expected a folder for --record, got {args.record!r}.")
    for solver, sentence in missing_packages(form).items():
        say(f"Without {solver}: {sentence}")
    every = list(studies(form, open_store(args, create=True), name))
    if args.plan:
        for noise, study in every:
            calls = sum((study.spec(cell.id).calls or 0) * form.replicas for cell in study.missing)
            print(f"{noise}: {len(study.missing)} of {len(study.cells)} runs to do, {calls} calls.")
        return FINE
    executor = dask(args.dask) if args.dask else None
    with ended_by_sigterm():
        for _, study in every:
            study.run(workers=args.workers, executor=executor, progress=not args.quiet, keep_failed=True)
    record = record_of(form, version("zoviz"), every)
    last = last_before(record)
    text = report(record, None if last is None else compared_versions(record, last))
    print(text, end="")
    if args.record:
        path = Path(args.record) / record.path.name
        record.write(path)
        path.with_suffix(".md").write_text(text, encoding="utf-8")
        say(f"Written to {path} and {path.with_suffix('.md').name}.")
    return FINE
