"""A file as lines, rows and console text; each reader keeps its own place."""

from io import BytesIO

import pytest

from planner.errors import DocumentRefusedError
from planner.importers import Source
from planner.importers.units import converted


def source(raw: bytes) -> Source:
    return Source("file", BytesIO(raw))


def test_two_readers_take_turns() -> None:
    read = source(b"a\nb\nc")
    first, second = read.lines(), read.lines()
    taken = [next(first), next(second), next(first), next(second), next(first)]
    assert taken == [(1, "a\n"), (1, "a\n"), (2, "b\n"), (2, "b\n"), (3, "c")]


def test_a_line_beyond_the_limit_is_refused_with_its_number() -> None:
    with pytest.raises(DocumentRefusedError) as refused:
        list(source(b"ok\n" + b"x" * 30).lines(20))
    assert [(problem.code, problem.line) for problem in refused.value.problems] == [("import/line_length", 2)]


def test_a_console_shows_what_stands_after_the_last_return() -> None:
    raw = b"\xef\xbb\xbf 10%\r 100%\x1b[0m\r\n\x1b[1mdone\x1b[0m\n"
    assert list(source(raw).console()) == [(1, " 100%"), (2, "done")]


def test_rows_know_the_line_they_start_at() -> None:
    assert list(source(b'a,b\n"1\n2",3\n\n4,5\n').rows()) == [
        (1, ["a", "b"]),
        (2, ["1\n2", "3"]),
        (4, []),
        (5, ["4", "5"]),
    ]


def test_a_value_that_recognition_read_is_given_once_more_only_when_asked_again() -> None:
    read = source(b"[1]\n[2]")
    assert read.first == [1]
    assert [document.tree for document in read.documents()] == [[1], [2]]
    assert [document.tree for document in read.documents()] == [[1], [2]]


@pytest.mark.parametrize(
    ("value", "unit", "into", "result"),
    [
        (0.1, "s", "ms", 100.0),
        (1_500_000, "ns", "ms", 1.5),
        (2_000_000, "ns", "ms", 2),
        (49.66, "GB", "bytes", 49_660_000_000),
        (46.25, "GiB", "bytes", 49_660_559_360),
        (81_559, "MiB", "bytes", 85_520_809_984),
        (42.5, "percent", "share", 0.425),
        (7, "ms", "ms", 7),
    ],
)
def test_units_are_converted_exactly_and_rounded_once(value: float, unit: str, into: str, result: float) -> None:
    found = converted(value, unit, into)
    assert (found, type(found)) == (result, type(result))
