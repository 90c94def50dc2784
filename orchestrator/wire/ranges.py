"""Which tasks are meant, in few words."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class Ranges:
    """Task numbers in an order, as half-open ranges: a million tasks in a few words."""

    spans: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Ranges:
        """Return these numbers, each once, the smallest first."""
        spans: list[list[int]] = []
        for number in sorted(set(numbers)):
            if spans and spans[-1][1] == number:
                spans[-1][1] += 1
            else:
                spans.append([number, number + 1])
        return cls(tuple((a, b) for a, b in spans))

    @classmethod
    def parse(cls, text: str) -> Ranges:
        """Return what a user has written, each number once, the smallest first: `3,7-9` is 3, 7, 8 and 9.

        Raise ValueError when the text is neither numbers nor ranges.
        """
        return cls(_merged(_spans(text)))

    @classmethod
    def in_order(cls, spans: Iterable[tuple[int, int]]) -> Ranges:
        """Return these spans in this very order, those that follow one another joined to one."""
        joined: list[tuple[int, int]] = []
        for start, stop in spans:
            if joined and start == joined[-1][1]:
                joined[-1] = (joined[-1][0], stop)
            else:
                joined.append((start, stop))
        return cls(tuple(joined))

    @classmethod
    def parse_in_order(cls, text: str) -> Ranges:
        """Return what `str` has written, in the order that it was written in."""
        return cls.in_order(_spans(text))

    @classmethod
    def union(cls, several: Iterable[Ranges]) -> Ranges:
        """Return the numbers of all of them, each once, the smallest first."""
        return cls(_merged([span for ranges in several for span in ranges.spans]))

    def minus(self, other: Ranges) -> Ranges:
        """Return these numbers without those of the other, the smallest first."""
        left: list[tuple[int, int]] = []
        taken = other._merged
        for first, stop in self._merged:
            nearby = max(bisect_left(taken, (first,)) - 1, 0)
            for start, end in taken[nearby : bisect_left(taken, (stop,))]:
                if first < start:
                    left.append((first, start))
                first = max(first, end)
            if first < stop:
                left.append((first, stop))
        return Ranges(tuple(left))

    @cached_property
    def _merged(self) -> tuple[tuple[int, int], ...]:
        """These numbers, the smallest first."""
        return _merged(list(self.spans))

    def __iter__(self) -> Iterator[int]:
        for start, stop in self.spans:
            yield from range(start, stop)

    def __len__(self) -> int:
        return sum(stop - start for start, stop in self.spans)

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int):
            return False
        after = bisect_left(self._merged, (number + 1,))
        return after > 0 and number < self._merged[after - 1][1]

    def __getitem__(self, index: int) -> int:
        """Return the number at this place in the order: so a Batch child's index finds its task."""
        for start, stop in self.spans:
            if index < stop - start:
                return start + index
            index -= stop - start
        raise IndexError(index)

    def chunks(self, size: int) -> list[Ranges]:
        """Return pieces of at most `size` numbers, as even as can be.

        An AWS Batch array has two children at least, so a piece of one number alone is avoided where possible.
        """
        total = len(self)
        pieces = -(-total // size)
        cuts = [total * k // pieces for k in range(pieces + 1)] if pieces else []
        return [self.cut(a, b) for a, b in pairwise(cuts)]

    def cut(self, first: int, last: int) -> Ranges:
        """Return the numbers at the places first..last-1 of the order."""
        spans: list[tuple[int, int]] = []
        seen = 0
        for start, stop in self.spans:
            a, b = max(first - seen, 0), min(last - seen, stop - start)
            if a < b:
                spans.append((start + a, start + b))
            seen += stop - start
        return Ranges(tuple(spans))

    def __str__(self) -> str:
        return ",".join(str(a) if b == a + 1 else f"{a}-{b - 1}" for a, b in self.spans)


def _spans(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        start, stop = int(first), int(last if dash else first) + 1
        if start < 0 or stop <= start:
            raise ValueError(part)
        spans.append((start, stop))
    return spans


def _merged(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return tuple(merged)
