"""Changes an input at random: bytes, words, lines, or one value of it, a few times in a row."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tests.fixtures.spoil import WRONG, changed, paths, without

if TYPE_CHECKING:
    from random import Random

NASTY = (
    "",
    "0",
    "-1",
    "1e-320",
    "1e309",
    "-1e999",
    "nan",
    ".inf",
    "9" * 400,
    "0x1F",
    "1_000",
    "1:30",
    "2026-13-45",
    "null",
    "~",
    "NO",
    "true",
    "{}",
    "[]",
    "[" * 2000,
    "{a: " * 500,
    "(" * 300,
    "-" * 300,
    "&a [*a, *a]",
    "*a",
    "<<: *a",
    "!!python/object:os.system x",
    "!!binary aGk=",
    "---",
    "...",
    "%YAML 9.9",
    "? x",
    "\x1b[2J\x1b]0;owned\x07",
    "\u202egnp.exe",
    "\0",
    "\ud800",
    "\ufeff",
    "\u2028",
    "é" * 50,
    "x" * 5000,
    "a b" * 800,
    "'",
    '"',
    "`",
    "#",
    "\\",
    "\t",
    "\r",
    "\r\n",
    "../../../../etc/passwd",
    "/dev/zero",
    "~root",
    "s3://",
    "s3://b",
    "s3:///k",
    "file:///etc/passwd",
    "http://169.254.169.254/",
    "{account}",
    "{region}",
    "{x",
    "${HOME}",
    "$(id)",
    "; id",
    "=1+1",
    "sagemaker/eu-west-1/ml.m5.xlarge/spot",
    "3-1",
    "0-99999999999999",
    "epochs ** epochs ** epochs",
    "9**9**9",
    "__import__('os')",
    "lambda: 0",
    "x if x else y",
    "1/0",
)
"""Words that some program has stumbled over."""
_WORD = re.compile(r"[^\s,:\[\]{}\"'=]+")
_MOST_TEXT = 200_000
"""Characters that an input may grow to."""


def mutated(text: str, random: Random) -> str:
    """Return a text that was changed in one to four places."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        text = random.choice(_CHANGES)(text, random)[:_MOST_TEXT]
    return text


def wrong(body: Any, random: Random) -> Any:
    """Return a JSON value in which one to three values are others, or are not there."""
    for _ in range(random.choice((1, 1, 2, 3))):
        every = list(paths(body))
        if not every:
            break
        path = random.choice(every)
        if random.random() < 0.15:
            body = without(body, path)
        else:
            value = random.choice(WRONG) if random.random() < 0.6 else random.choice(NASTY)
            body = changed(body, path, json.loads(json.dumps(value)))
    return body


def _replace_word(text: str, random: Random) -> str:
    words = list(_WORD.finditer(text))
    if not words:
        return random.choice(NASTY)
    word = random.choice(words)
    return text[: word.start()] + random.choice(NASTY) + text[word.end() :]


def _insert(text: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(NASTY) + text[at:]


def _cut(text: str, random: Random) -> str:
    start, stop = _span(text, random)
    return text[:start] + text[stop:]


def _double(text: str, random: Random) -> str:
    start, stop = _span(text, random)
    return text[:stop] + text[start:]


def _end_early(text: str, random: Random) -> str:
    return text[: random.randrange(len(text) + 1)]


def _swap_lines(text: str, random: Random) -> str:
    lines = text.split("\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return "\n".join(lines)


def _indent(text: str, random: Random) -> str:
    lines = text.split("\n")
    at = random.randrange(len(lines))
    lines[at] = random.choice((" ", "   ", "\t")) + lines[at]
    return "\n".join(lines)


def _flip(text: str, random: Random) -> str:
    if not text:
        return text
    at = random.randrange(len(text))
    return text[:at] + chr(random.choice((random.randrange(128), random.randrange(0x3000)))) + text[at + 1 :]


def _span(text: str, random: Random) -> tuple[int, int]:
    start = random.randrange(len(text) + 1)
    return start, min(len(text), start + random.choice((1, 3, 20, 200)))


_CHANGES = (
    _replace_word,
    _replace_word,
    _replace_word,
    _insert,
    _cut,
    _double,
    _end_early,
    _swap_lines,
    _indent,
    _flip,
)
