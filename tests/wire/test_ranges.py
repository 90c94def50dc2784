"""Ranges are an ordered set of task numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.wire.ranges import Ranges

NUMBERS = st.sets(st.integers(0, 60))


@given(NUMBERS)
def test_ranges_hold_the_numbers_they_were_made_of(numbers: set[int]) -> None:
    ranges = Ranges.of(numbers)
    assert list(ranges) == sorted(numbers)
    assert len(ranges) == len(numbers)
    assert [number in ranges for number in range(70)] == [number in numbers for number in range(70)]
    assert [ranges[index] for index in range(len(ranges))] == sorted(numbers)


@given(NUMBERS.filter(bool))
def test_what_is_printed_is_read_back(numbers: set[int]) -> None:
    ranges = Ranges.of(numbers)
    assert Ranges.parse(str(ranges)) == ranges


@given(NUMBERS, st.integers(1, 20))
def test_chunks_are_all_the_numbers_in_order_and_none_too_large(numbers: set[int], size: int) -> None:
    chunks = Ranges.of(numbers).chunks(size)
    assert [number for chunk in chunks for number in chunk] == sorted(numbers)
    assert all(0 < len(chunk) <= size for chunk in chunks)


@given(st.integers(2, 200), st.integers(2, 20))
def test_no_chunk_is_of_one_number_alone_if_it_can_be_helped(count: int, size: int) -> None:
    chunks = Ranges(((0, count),)).chunks(size)
    # Three cannot be cut into twos.
    assert min(map(len, chunks)) > 1 or size == 2


@given(st.lists(st.integers(0, 60), unique=True, min_size=1))
def test_an_order_is_kept_and_read_back(numbers: list[int]) -> None:
    ranges = Ranges.in_order((number, number + 1) for number in numbers)
    assert list(ranges) == numbers
    assert [ranges[index] for index in range(len(numbers))] == numbers
    assert [number for chunk in ranges.chunks(7) for number in chunk] == numbers
    assert Ranges.parse_in_order(str(ranges)) == ranges
    assert Ranges.union([ranges, ranges]) == Ranges.of(numbers)


def test_overlaps_and_neighbours_are_one_range() -> None:
    assert str(Ranges.parse("7-9,3, 8-12,4")) == "3-4,7-12"
    assert Ranges.parse("1,2,3") == Ranges(((1, 4),))


@pytest.mark.parametrize("text", ["", "a", "3-", "-3", "5-3", "1,,2", "1.5", "1-2-3"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the text is all there is to say
        Ranges.parse(text)


def test_there_is_no_number_beyond_the_last() -> None:
    with pytest.raises(IndexError):
        Ranges.parse("3,7-9")[4]


def test_a_million_numbers_are_two() -> None:
    ranges = Ranges(((0, 1_000_000),))
    assert (len(ranges), ranges[999_999], 999_999 in ranges, "1" in ranges) == (1_000_000, 999_999, True, False)


@given(st.lists(st.integers(0, 30)), st.lists(st.integers(0, 30)))
def test_numbers_without_others_are_what_is_left(numbers: list[int], others: list[int]) -> None:
    mixed = Ranges.in_order((number, number + 1) for number in numbers)
    left = mixed.minus(Ranges.of(others))
    assert list(left) == sorted(set(numbers) - set(others))
    assert left == Ranges.of(left)
