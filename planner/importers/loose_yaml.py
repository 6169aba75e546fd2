"""YAML as tools write it, bounded: one document of plain mappings, lists and scalars.

Refused: anchors and aliases (they multiply), tags, several documents, nesting deeper than 64. Times stay text. A key
that stands twice is refused: YAML forbids it and parsers keep the last one silently. The value is made in one pass
over the events of the parser, so what is refused was never built.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NoReturn

import yaml

from planner.errors import DocumentRefusedError, Problem
from planner.importers.scrubbed import found
from planner.strict_json import MAX_DEPTH

__all__ = ["yaml_tree"]

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""PyYAML has its loader in C only where it was built with it."""
_RESOLVER: Any = yaml.resolver.Resolver()
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_MADE: dict[str, Callable[[yaml.ScalarNode], Any]] = {
    "tag:yaml.org,2002:int": _CONSTRUCTOR.construct_yaml_int,
    "tag:yaml.org,2002:float": _CONSTRUCTOR.construct_yaml_float,
    "tag:yaml.org,2002:bool": _CONSTRUCTOR.construct_yaml_bool,
    "tag:yaml.org,2002:null": _CONSTRUCTOR.construct_yaml_null,
}


def yaml_tree(text: str) -> Any:
    """Return the value of a YAML text.

    Raises:
        DocumentRefusedError: it is none, or one that is not read.
    """
    try:
        return _built(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        _refuse("import/syntax", "YAML", found(error.problem or "something else"), line, column)
    except (yaml.YAMLError, ValueError) as error:
        _refuse("import/syntax", "YAML", found(str(error).partition("\n")[0]), None)


class _Collection:
    """An open list or mapping, what it holds, and the key whose value comes next."""

    def __init__(self, *, is_mapping: bool) -> None:
        self.value: Any = {} if is_mapping else []
        self._keys: set[str] = set()
        self._key: tuple[Any] | None = None

    def add(self, event: Any, value: Any) -> None:
        """Take the next element, key or value."""
        if isinstance(self.value, list):
            self.value.append(value)
        elif self._key is not None:
            self.value[self._key[0]] = value
            self._key = None
        else:
            _check_key(event, self._keys)
            self._key = (value,)


def _check_key(event: Any, earlier: set[str]) -> None:
    if not isinstance(event, yaml.ScalarEvent):
        _refuse("import/syntax", "keys that are text", "a list or mapping", _line(event))
    if event.value in earlier:
        _refuse("import/duplicate_key", "each key once", found(event.value), _line(event))
    earlier.add(event.value)


def _built(events: Iterator[Any]) -> Any:
    whole = _Collection(is_mapping=False)
    nesting = [whole]
    documents = 0
    for event in events:
        if isinstance(event, yaml.ScalarEvent):
            _check(event)
            nesting[-1].add(event, _plain(event.value) if event.implicit[0] else event.value)
        elif isinstance(event, yaml.CollectionEndEvent):
            nesting.pop()
        elif isinstance(event, yaml.NodeEvent):
            _check(event)
            below = _Collection(is_mapping=isinstance(event, yaml.MappingStartEvent))
            nesting[-1].add(event, below.value)
            nesting.append(below)
            if len(nesting) > MAX_DEPTH + 1:
                _refuse("import/depth", f"nesting of at most {MAX_DEPTH}", "deeper nesting", _line(event))
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                _refuse("import/syntax", "one YAML document", "another one", _line(event))
    return whole.value[0] if whole.value else None


def _check(event: Any) -> None:
    if isinstance(event, yaml.AliasEvent) or event.anchor:
        _refuse("import/yaml_alias", "YAML without anchors and aliases", "one", _line(event))
    if event.tag and event.tag != "!":
        _refuse("import/syntax", "YAML without tags", found(event.tag), _line(event))


@lru_cache(maxsize=4096)
def _plain(text: str) -> Any:
    """Return the number, switch, null or text that a scalar without quotes is."""
    tag = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))
    made = _MADE.get(tag)
    return made(yaml.ScalarNode(tag, text)) if made else text


def _line(event: Any) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _refuse(code: str, expected: str, what: str, line: int | None, column: int | None = None) -> NoReturn:
    raise DocumentRefusedError((Problem(code, "", expected, what, line, column),))
