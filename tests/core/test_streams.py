"""One seed gives fixed sequences, whoever else reads and however the reads are divided."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from zoviz.core.streams import Streams
from zoviz.core.types import Array

KINDS: dict[str, Callable[..., Array]] = {
    "normal": lambda s, purpose, *shape: s.normal(purpose, *shape),
    "uniform": lambda s, purpose, *shape: s.uniform(purpose, *shape),
    "student_t": lambda s, purpose, *shape: s.student_t(purpose, 5.0, *shape),
}
EACH_KIND = pytest.mark.parametrize("kind", KINDS)


@EACH_KIND
def test_shapes_and_equality_of_twins(kind: str) -> None:
    draw = KINDS[kind]
    first, second = draw(Streams(3, 4), "a", 2, 5), draw(Streams(3, 4), "a", 2, 5)
    assert first.shape == (4, 2, 5)
    assert draw(Streams(3, 4), "a").shape == (4,)
    np.testing.assert_array_equal(first, second)


@EACH_KIND
def test_seed_purpose_and_replica_each_give_another_sequence(kind: str) -> None:
    draw = KINDS[kind]
    here = draw(Streams(3, 4), "a", 6)
    assert not np.isin(draw(Streams(4, 4), "a", 6), here).any()
    assert not np.isin(draw(Streams(3, 4), "b", 6), here).any()
    assert np.unique(here).size == here.size


def test_kinds_of_one_purpose_do_not_share_a_sequence() -> None:
    streams = Streams(0, 2)
    streams.uniform("a", 100)
    np.testing.assert_array_equal(streams.normal("a", 5), Streams(0, 2).normal("a", 5))


@EACH_KIND
def test_a_replica_does_not_depend_on_how_many_there_are(kind: str) -> None:
    draw = KINDS[kind]
    few, many = Streams(7, 2), Streams(7, 9)
    for shape in ((3,), (5000,), (2, 2)):
        np.testing.assert_array_equal(draw(few, "a", *shape), draw(many, "a", *shape)[:2])


@EACH_KIND
def test_a_sequence_does_not_depend_on_how_reads_are_divided(kind: str) -> None:
    draw, total = KINDS[kind], 20_000
    whole = draw(Streams(1, 2), "a", total)
    sizes = np.random.default_rng(0).choice([1, 2, 7, 100, 2047, 2048, 2049, 4095, 4096, 4097, 6000], 400)
    streams, parts, rest = Streams(1, 2), [], total
    for size in sizes:
        parts.append(draw(streams, "a", min(int(size), rest)))
        rest -= parts[-1].shape[1]
    parts.append(draw(streams, "a", rest))
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), whole)


@EACH_KIND
def test_what_was_taken_stays_what_it_was(kind: str) -> None:
    draw, streams = KINDS[kind], Streams(1, 2)
    blocks = [draw(streams, "a", size) for size in (10, 4000, 300, 5000, 10)]
    copies = [t.copy() for t in blocks]
    draw(streams, "a", 9000)
    for view, copy in zip(blocks, copies, strict=True):
        np.testing.assert_array_equal(view, copy)


def test_other_purposes_do_not_disturb_a_sequence() -> None:
    alone, company = Streams(5, 3), Streams(5, 3)
    expected = [alone.normal("a", 4), alone.normal("a", 4)]
    first = company.normal("a", 4)
    company.normal("b", 1000)
    company.subset("c", 10, 3)
    np.testing.assert_array_equal(first, expected[0])
    np.testing.assert_array_equal(company.normal("a", 4), expected[1])


def test_an_empty_read_takes_nothing() -> None:
    streams = Streams(0, 2)
    assert streams.normal("a", 0).shape == (2, 0)
    np.testing.assert_array_equal(streams.normal("a", 3), Streams(0, 2).normal("a", 3))


def test_laws() -> None:
    streams, count = Streams(2, 4), 50_000
    normal, uniform = streams.normal("a", count), streams.uniform("a", count)
    heavy = streams.student_t("a", 8.0, count)
    size = 4 * count
    assert abs(normal.mean()) < 4 / np.sqrt(size)
    assert abs(normal.var() - 1.0) < 4 * np.sqrt(2.0 / size)
    assert 0.0 <= uniform.min() and uniform.max() < 1.0
    assert abs(uniform.mean() - 0.5) < 4 * np.sqrt(1.0 / 12.0 / size)
    assert abs(heavy.var() - 8.0 / 6.0) < 4 * np.sqrt((4.5 + 2.0) / size) * 8.0 / 6.0  # excess kurtosis 6/(nu - 4)
    assert np.abs(np.corrcoef(normal)[np.triu_indices(4, 1)]).max() < 4 / np.sqrt(count)


def test_degrees_of_freedom_have_sequences_of_their_own() -> None:
    streams = Streams(2, 1)
    streams.student_t("a", 3.0, 10)
    np.testing.assert_array_equal(streams.student_t("a", 9.0, 5), Streams(2, 1).student_t("a", 9.0, 5))


@pytest.mark.parametrize("n, size", [(1, 1), (6, 1), (6, 3), (6, 5), (6, 6), (40, 7)])
def test_subsets_are_sorted_distinct_and_in_range(n: int, size: int) -> None:
    subset = Streams(0, 5).subset("s", n, size, 30)
    assert subset.shape == (5, 30, size)
    assert np.issubdtype(subset.dtype, np.integer)
    assert subset.min() >= 0 and subset.max() < n
    assert (np.diff(subset, axis=-1) > 0).all()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_subsets_are_uniform(size: int) -> None:
    n, draws = 5, 40_000
    subset = Streams(1, 2).subset("s", n, size, draws // 2).reshape(-1, size)
    codes, counts = np.unique((subset * n ** np.arange(size)).sum(axis=1), return_counts=True)
    kinds = {1: 5, 2: 10, 3: 10}[size]
    assert codes.size == kinds
    expected = draws / kinds
    chi_square = float(((counts - expected) ** 2 / expected).sum())
    assert chi_square < (kinds - 1) + 4 * np.sqrt(2 * (kinds - 1))


def test_a_generator_is_fresh_each_time() -> None:
    streams = Streams(9, 2)
    first, again = streams.generator("a", 1).random(3), streams.generator("a", 1).random(3)
    np.testing.assert_array_equal(first, again)
    assert not np.isin(streams.generator("a", 0).random(3), first).any()
