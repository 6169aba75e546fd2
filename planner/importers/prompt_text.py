"""Takes prompts and answers out of JSON, in lines, without reading it: what stands below the keys that hold them.

Strings become ``[removed]``, lists of token numbers become empty; keys, numbers and line breaks stay. In the log of a
server the prompt of a request stands in one line, and is taken out there.
"""

import re
from collections.abc import Callable
from typing import Literal

__all__ = ["PromptRemover"]

_WHOLE = (
    *("generated_texts", "generated_text", "prompts", "prompt_text", "input_text", "output_text", "output_texts"),
    *("completion", "completions", "response_text", "response_texts", "request_inputs", "response_outputs"),
    *("messages", "payload", "request_json", "request_body", "text_input", "text_output", "raw_request"),
    *("raw_response", "question", "answer", "conversation", "conversations", "request_args"),
)
_TEXT_ONLY = ("prompt", "output", "response", "responses")
_NUMBERS = ("prompt_token_ids", "output_token_ids", "token_ids", "input_ids", "output_ids")
_KEY = re.compile(
    rb'"(?:(?P<whole>' + "|".join(_WHOLE).encode() + rb")|(?P<text>" + "|".join(_TEXT_ONLY).encode() + rb")"
    rb"|(?P<numbers>" + "|".join(_NUMBERS).encode() + rb'))"\s*:\s*(?=["\[{])'
)
_MARKS = tuple(f'"{key}"'.encode() for key in (*_WHOLE, *_TEXT_ONLY, *_NUMBERS))
_LOGGED = re.compile(
    rb"(?:(?<=: prompt: )|(?<=\bPrompt: )|(?<=\bGenerated text: ))"
    rb"(?:'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\")"
)
_LOGGED_IDS = re.compile(rb"(?<=prompt_token_ids: \[)[0-9, ]+")
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)(?P<key>\s*:)?|[\[\]{}]')
_STEPS = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}

Mode = Literal["strings", "numbers"]
Note = Callable[[int], None]


class PromptRemover:
    """Goes through a file in blocks of whole lines; a value that begins in one block may end in a later one."""

    def __init__(self) -> None:
        self._depth = 0
        self._mode: Mode = "strings"

    def without(self, block: bytes, note: Note) -> bytes:
        """Return the block without prompts and answers; ``note`` is called with the offset of each that was there."""
        if not self._depth and not any(mark in block for mark in _MARKS) and b"rompt" not in block:
            return block
        parts: list[bytes] = []
        at = self._go_on(block, 0, parts, note) if self._depth else 0
        while (key := _KEY.search(block, at)) is not None:
            start = key.end()
            parts.append(block[at:start])
            at = self._value(block, start, key, parts, note)
        parts.append(block[at:])
        return self._logged(b"".join(parts), note)

    def _value(self, block: bytes, start: int, key: re.Match[bytes], parts: list[bytes], note: Note) -> int:
        """Take out the value that begins at ``start``; return where to go on."""
        opening = block[start : start + 1]
        if opening == b'"':
            string = _TOKEN.match(block, start)
            end = string.end() if string else len(block)
            parts.append(_emptied(block[start:end], start, note))
            return end
        if key["text"] and opening == b"{":
            return start  # a structure that happens to have this name, such as a distribution of lengths
        self._depth, self._mode = 1, "numbers" if key["numbers"] else "strings"
        parts.append(opening)
        if key["numbers"]:
            note(start)
        return self._go_on(block, start + 1, parts, note)

    def _go_on(self, block: bytes, at: int, parts: list[bytes], note: Note) -> int:
        """Go through the value that is open until it ends or the block does."""
        for token in _TOKEN.finditer(block, at):
            between, text = block[at : token.start()], token[0]
            parts.append(b"\n" * between.count(b"\n") if self._mode == "numbers" else between)
            at = token.end()
            step = _STEPS.get(text, 0)
            self._depth += step
            parts.append(text if step or token["key"] else _emptied(text, token.start(), note))
            if not self._depth:
                return at
        rest = block[at:]
        parts.append(b"\n" * rest.count(b"\n") if self._mode == "numbers" else rest)
        return len(block)

    def _logged(self, block: bytes, note: Note) -> bytes:
        """Take prompts out of lines of a server's log."""
        if b"rompt" not in block:
            return block

        def replaced(match: re.Match[bytes]) -> bytes:
            if match[0] in (b"''", b'""', b"'[removed]'"):
                return match[0]
            note(match.start())
            return b"'[removed]'"

        return _LOGGED_IDS.sub(b"", _LOGGED.sub(replaced, block))


def _emptied(string: bytes, offset: int, note: Note) -> bytes:
    if string in (b'""', b'"[removed]"'):
        return string
    note(offset)
    return b'"[removed]"'
