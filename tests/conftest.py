"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from zoviz.runs.store import Store

try:
    import fcntl
except ImportError:  # Windows: there use one worker
    fcntl = None

# Before NumPy and PyTorch read it: two workers share two cores, where threads of small products wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Hundreds of processes of the tests import zoviz: where an image forbids bytecode, each would compile it anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
pytest.register_assert_rewrite("helpers")

from helpers.project import ROOT  # noqa: E402  # once its assertions are explained, too
from helpers.sources import READERS, parse  # noqa: E402


def pytest_configure() -> None:
    """Heed Ctrl-C: a shell that starts the tests in the background has them, and all they start, ignore it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Take thousands of tests and all that is imported out of what the garbage collector looks through each time.

    It looks through all the others a tenth as often as usual: pages leave a million objects behind.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(700, 10, 100)


ALONE = {"bench"}
"""Marks of tests that measure times and so need the whole machine: of several workers (-n 2) the others wait."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that run alone come last, when there is nobody left to wait."""
    items.sort(key=alone)


def alone(item: pytest.Item) -> bool:
    """Whether no other test may run at the same time."""
    return any(item.get_closest_marker(mark) for mark in ALONE)


@pytest.hookimpl(optionalhook=True)  # where pytest-xdist is
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One of several workers has all that drives a browser, from the start on; the others go on with the rest.

    Two browsers with a server each are too much for two cores. (The mark "xdist_group" has no effect under pytest 9.)
    """
    from xdist.scheduler import LoadScopeScheduling

    class OneBrowser(LoadScopeScheduling):
        """Tests of the folder ``apps`` are one unit, the longest; else a file is, whose fixtures are then made once."""

        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "apps" if file.startswith("tests/apps/") else "sources" if file in READERS else file

    config.option.loadscopereorder = False  # in the order of collection: the browser's first, those that run alone last
    return OneBrowser(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """One lock for all workers in this checkout: shared by most tests, taken by one that runs alone."""
    if fcntl is None or "PYTEST_XDIST_WORKER" not in os.environ:
        return (yield)
    with open(ROOT / "pyproject.toml") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if alone(item) else fcntl.LOCK_SH)
        return (yield)


@pytest.hookimpl
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Forget the trees of all sources behind the last test that looks at them."""
    if item.nodeid.startswith(READERS) and (nextitem is None or not nextitem.nodeid.startswith(READERS)):
        parse.cache_clear()


@pytest.fixture(scope="module")
def fast_collections() -> None:
    """Take what earlier tests left out of what the garbage collector looks through, which takes seconds each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def root() -> Path:
    """Folder of the project: the one that holds pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session", autouse=True)
def _settings_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the key of whoever runs the tests out of them."""
    os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("settings"))


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store in a file; PostgreSQL's where the test is marked so (``helpers.stores.EACH_KIND``)."""
    from zoviz.runs.store import Store

    if getattr(request, "param", "sqlite") == "postgresql":
        yield request.getfixturevalue("emptied")
        return
    with Store(f"sqlite:///{tmp_path / 'zoviz.db'}") as one:
        yield one


@pytest.fixture
def one_blas_thread() -> Iterator[None]:
    """Where the thread's own time is measured, products of matrices may use no other."""
    from zoviz.core.threads.blas import SingleBlasThread

    with SingleBlasThread():
        yield
