"""A user's program as a problem."""

from __future__ import annotations

import os
import re
import threading
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Self

import param
from numpy.typing import ArrayLike

from zoviz.core.types import Evaluation, Printed
from zoviz.evaluation.evaluators import Evaluator, check_workers
from zoviz.evaluation.function_call import Failure
from zoviz.evaluation.program import SEED, Program, words
from zoviz.evaluation.program_io import outputs
from zoviz.evaluation.scipy_constraints import Bounds
from zoviz.problems.user.base import Simulation

PRINTED_CALLS = 20
"""Launches whose printing stays in memory."""


class Executable(Simulation):
    """A problem whose values your own program computes: it is launched once for every point.

    Parameters
    ----------
    command : str or sequence of str
        The program and its arguments, e.g. ``"./sim {input} {output}"``. ``{input}`` stands for the name of a file
        with x, one number a line, ``{output}`` for that of the file in which the program leaves its numbers, f first
        and then h (h <= 0 is feasible). Without ``{input}`` the program reads x from its standard input, without
        ``{output}`` its standard output is read. With a suffix (``{input.json}``) the file's name has it, and JSON
        is written or read: a list of numbers, or an object with f and h. There is no shell: no pipes, no variables.
        ``{seed}`` stands for a whole number from which all randomness is to follow, as ``seeds`` of a ``BlackBox``.
        Words that name existing files are made absolute.
    bounds, x0
        As for ``BlackBox``.
    m : int
        Number of constraints; not needed with ``output_types``.
    format : str
        "text"; "json"; or "nomad": NOMAD's convention, where the last argument is the name of a file with x on one
        line, and the outputs are the first line that the program prints.
    output_types : str or sequence of str, optional
        NOMAD's names of the outputs in their order, e.g. ``"OBJ PB EB CNT_EVAL"``: one OBJ; PB, EB, CSTR are h. EB may
        not be violated: where it is, the other outputs mean nothing, and the point is a failed one.
    workers : int or executor, optional
        How many launches at once (-1: one per core), or who does them: anything with ``submit``.
    timeout : float, optional
        Seconds after which a launch is given up: the program and all that it has started are killed.
    retries : int
        Further launches for a point whose launch failed.
    folder : path, optional
        Working folder of all launches; by default each has a fresh one, which is removed.
    log_folder : path, optional
        Where all that the program prints is kept, in files named after the number of the call.
    on_error : str
        "raise": a program that cannot be started ends the run. "fail": that, too, counts as a failed point.

    Raises
    ------
    ValueError
        For no command, no m, output types that are none of NOMAD's, and as for ``BlackBox``.

    Notes
    -----
    An exit status other than 0, a launch that took too long, and output that is not as many numbers as are expected
    are failed points: NaN, counted, and ``failure_message`` tells the first. ``printed`` shows the last launches. The
    program sees ``ZOVIZ_CALL`` and ``ZOVIZ_ATTEMPT`` (from 1), ``ZOVIZ_INPUT`` and ``ZOVIZ_OUTPUT`` in its environment.
    It is killed, with all that it has started, when this process ends. On other machines the command must name the
    same program, and the folders must be theirs too.

    References
    ----------
    Le Digabel (2011), Algorithm 909, ACM Transactions on Mathematical Software 37(4), Section 4 (black boxes).
    """

    title = "Program"
    order = 99
    costly = True
    programs = ("command",)

    command: param.Parameter[tuple[str, ...]] = param.Parameter(
        constant=True, precedence=-1, label="Command", doc="The program and its arguments."
    )
    format: param.Selector[str] = param.Selector(
        default="text",
        objects=["text", "json", "nomad"],
        constant=True,
        precedence=-1,
        label="Format",
        doc="Format of the files.",
    )
    output_types: param.Parameter[str | Sequence[str] | None] = param.Parameter(
        default=None,
        constant=True,
        precedence=-1,
        label="Output types",
        doc="Kinds of the outputs by NOMAD's names, such as OBJ PB PB.",
    )
    retries = param.Integer(
        default=0,
        bounds=(0, 1000),
        constant=True,
        precedence=-1,
        label="Retries",
        doc="Repeated launches after a failure.",
    )
    folder: param.Parameter[str | None] = param.Parameter(
        default=None,
        constant=True,
        precedence=-1,
        label="Working folder",
        doc="Folder to run in; None: a new one each time.",
    )
    log_folder: param.Parameter[str | None] = param.Parameter(
        default=None, constant=True, precedence=-1, label="Log folder", doc="Folder for what is printed."
    )
    m_constraints = param.Integer(default=None, allow_None=True, constant=True, precedence=-1)

    def __init__(
        self,
        command: str | Sequence[str],
        bounds: Bounds | None = None,
        x0: ArrayLike | None = None,
        m: int | None = None,
        *,
        format: str = "text",
        output_types: str | Sequence[str] | None = None,
        folder: str | os.PathLike[str] | None = None,
        log_folder: str | os.PathLike[str] | None = None,
        **params: Any,
    ) -> None:
        meaning, parts = outputs(output_types, params.pop("m_constraints", m)), words(command, format)
        super().__init__(
            command=parts,
            seeds=params.pop("seeds", any(SEED in part for part in parts)),
            bounds=bounds,
            x0=x0,
            m_constraints=len(meaning.h),
            format=format,
            output_types=output_types,
            folder=None if folder is None else os.path.abspath(folder),
            log_folder=None if log_folder is None else os.path.abspath(log_folder),
            **params,
        )
        self._launches = _Launches(self.log_folder)

    def _make_program(self) -> Program:
        meaning = outputs(self.output_types, self.m_constraints)
        return Program(self.command, self.format, meaning, self.timeout, self.retries, self.folder, self.log_folder)

    def _make_evaluator(self) -> Evaluator:
        check_workers(self.workers, None, False)
        self._program = self._make_program()
        # A thread is enough to wait for a program, and the launch itself ends what takes too long.
        return Evaluator(self.workers, None, threads=True)

    def clone(self) -> Self:
        """Return a clone around the same program, whose launches are shown in this problem's ``printed`` too."""
        clone = super().clone()
        clone._launches = _Launches(self.log_folder, self._launches)
        return clone

    def clone_apart(self) -> Self:
        """Return a clone whose launches have numbers of their own, and logs in its log folder's ``apart``."""
        clone = super().clone()
        if self.log_folder is not None:
            with param.edit_constant(clone):
                clone.log_folder = os.path.join(self.log_folder, "apart")
            clone._program = clone._make_program()
        clone._launches = _Launches(clone.log_folder)
        return clone

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Take over what a snapshot knows and this problem does not, and number calls on from ``evaluation_count``."""
        super().restore(snapshot)
        self._launches.go_on(snapshot.get("evaluation_count", 0))

    @property
    def printed(self) -> tuple[Printed, ...]:
        """The outputs of the last 20 launches, this problem's and those of its clones, e.g. in a run."""
        return self._launches.printed

    def call(self, m: int | None) -> Program:
        """Return the program, which computes a value from a call's number and a point (n,)."""
        return self._program

    def release(self) -> None:
        """Stop the launches under way; the next evaluation starts afresh."""
        self._program.end()
        super().release()

    def _new_task(self, task: Any) -> Any:
        """Return a task with the number of its call."""
        return self._launches.next(), task

    def _outcomes(
        self, tasks: Sequence[Any], ahead: Sequence[Any] = ()
    ) -> Generator[tuple[int, Evaluation | Failure], None, None]:
        unanswered = len(tasks)
        try:
            with closing(self._evaluator.outcomes(self.call(self.m), tasks, ahead)) as outcomes:
                for i, outcome in outcomes:
                    unanswered -= 1
                    if isinstance(outcome, Failure):  # the workers died, not the program
                        yield i, outcome
                        continue
                    self._launches.take(outcome.printed)
                    yield i, outcome.outcome
        finally:
            if unanswered:
                self._program.end()


class _Launches:
    """The numbers of calls that a problem and its clones share, and the output of their last launches.

    The thread of a run writes, a page's reads.
    """

    def __init__(self, log_folder: str | None, above: _Launches | None = None) -> None:
        self._printed: deque[Printed] = deque(maxlen=PRINTED_CALLS)
        self._log_folder, self._above, self._last, self._call_count = log_folder, above, -1, 0
        self._lock = threading.Lock()  # for the numbers and outputs, which runs' and pages' threads use

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._log_folder,)

    @property
    def printed(self) -> tuple[Printed, ...]:
        """The outputs of the last launches here and in clones, oldest first."""
        with self._lock:
            return tuple(self._printed)

    def take(self, printed: Sequence[Printed]) -> None:
        """Record a call's output, here and in the problem that this one is a clone of."""
        with self._lock:
            self._printed.extend(printed)
        if self._above is not None:
            self._above.take(printed)

    def next(self) -> int:
        """Return the next call's number: after the last one in the log folder, where an earlier run left it."""
        if self._above is not None:
            return self._above.next()
        with self._lock:
            if self._last < 0:
                folder = Path(self._log_folder) if self._log_folder else None
                names = [path.name for path in folder.iterdir()] if folder and folder.is_dir() else []
                self._last = max((int(m[0]) for m in map(re.compile(r"\d+").match, names) if m), default=0)
            self._last = max(self._last, self._call_count) + 1
            return self._last

    def go_on(self, count: int) -> None:
        """Number later calls from ``count`` on."""
        if self._above is not None:
            return self._above.go_on(count)
        with self._lock:
            self._call_count = max(self._call_count, count)
