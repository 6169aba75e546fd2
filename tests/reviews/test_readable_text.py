"""Text that people type and others read before they rely on it."""

import pytest

from reviews.errors import Finding, InvalidRequestError, is_prose, length_of

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


def test_a_refusal_that_quotes_what_was_sent_is_readable_and_can_be_kept() -> None:
    refused = InvalidRequestError((Finding("request", "request/x", "a\0b", "a trial", "\u202e\ud800\nn\u00e9"),))
    assert refused.message == "a\\x00b: expected a trial, found \\u202e\\ud800\nn\u00e9."
    assert refused.sentences == (refused.message,)
