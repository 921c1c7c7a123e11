"""Which problems an arm solves: a nested sample that depends on ids and seed alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core_cases import problem
from parley.choosing import choose
from parley.types import Problem

IDS = st.lists(st.text(min_size=1, max_size=6), unique=True, max_size=30)


def chosen(names: list[str], limit: int | None, seed: int) -> list[str]:
    return [one.id for one in choose([problem(name) for name in names], limit, seed)]


@given(IDS, st.integers(0, 30), st.integers(0, 30), st.integers())
def test_a_larger_limit_keeps_the_problems_of_a_smaller_one(
    names: list[str], small: int, more: int, seed: int
) -> None:
    few, many = chosen(names, small, seed), chosen(names, small + more, seed)
    assert many[: len(few)] == few
    assert len(few) == min(small, len(names))
    assert sorted(chosen(names, None, seed)) == sorted(names)


@given(IDS, st.randoms(use_true_random=False), st.integers(0, 30), st.integers())
def test_the_place_in_a_file_does_not_matter(
    names: list[str], chance: object, limit: int, seed: int
) -> None:
    shuffled = list(names)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert chosen(shuffled, limit, seed) == chosen(names, limit, seed)


def test_problems_added_to_a_file_do_not_reorder_the_old_ones() -> None:
    names = [f"q{n}" for n in range(50)]
    old = chosen(names[:40], None, 42)
    assert [name for name in chosen(names, None, 42) if name in old] == old


def test_another_seed_is_another_sample() -> None:
    names = [f"q{n}" for n in range(50)]
    first, second = chosen(names, 10, 42), chosen(names, 10, 43)
    assert first != second
    assert first != names[:10], "not the first of the file"
    assert set(first) != set(second)


def test_nothing_to_choose_from() -> None:
    none: list[Problem] = []
    assert choose(none, 5, 1) == ()
