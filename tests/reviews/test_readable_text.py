"""Text that people type and others read before they rely on it."""

import pytest

from reviews.errors import is_prose, length_of

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.mark.parametrize("text", ["Read it.", "One\r\nTwo\tand more", "\u0642\u0631\u0623\u062a", FAMILY, "x" * 20])
def test_what_people_write_is_taken(text: str) -> None:
    assert is_prose(text, 20)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("", "nothing", id="nothing"),
        pytest.param("x" * 21, "21 characters", id="too long"),
        pytest.param("\u200b", "1 character, among them U+200B, which nobody sees", id="nothing that is seen"),
        pytest.param("no \u202esey", "7 characters, among them U+202E, which nobody sees", id="turned around"),
        pytest.param("\u200d\u2066yes", "5 characters, among them U+2066, which nobody sees", id="the culprit of two"),
        pytest.param("a\0b", "3 characters, among them U+0000, which nobody sees", id="NUL"),
        pytest.param("a\x1b[2Jb", "6 characters, among them U+001B, which nobody sees", id="terminal"),
        pytest.param("\ud800", "1 character, among them U+D800, which nobody sees", id="half a character"),
    ],
)
def test_what_is_refused_is_described(text: str, found: str) -> None:
    assert (is_prose(text, 20), length_of(text)) == (False, found)
