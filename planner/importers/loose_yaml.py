"""YAML as tools write it, bounded: one document of plain mappings, lists and scalars.

Refused: anchors and aliases (they multiply), tags, several documents, nesting deeper than 64. Times stay text. A key
that stands twice is refused: YAML forbids it and parsers keep the last one silently.
"""

from typing import Any, NoReturn

import yaml

from planner.errors import DocumentRefusedError, Problem
from planner.importers.scrubbed import found
from planner.strict_json import MAX_DEPTH

__all__ = ["yaml_tree"]

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc] # PyYAML has its C loader only where it was built with it
    """The safe loader without times."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def yaml_tree(text: str) -> Any:
    """Return the value of a YAML text.

    Raises:
        DocumentRefusedError: it is none, or one that is not read.
    """
    try:
        _check(text)
        # The loader is the safe one: it makes plain values only.
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a subclass of the safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        _refuse("import/syntax", "YAML", found(error.problem or "something else"), line, column)
    except (yaml.YAMLError, ValueError) as error:
        _refuse("import/syntax", "YAML", found(str(error).partition("\n")[0]), None)


def _check(text: str) -> None:
    nesting: list[_Collection] = []
    documents = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                _refuse("import/syntax", "one YAML document", "another one", line)
        elif isinstance(event, yaml.CollectionEndEvent):
            nesting.pop()
        elif isinstance(event, yaml.NodeEvent):
            _check_node(event, nesting[-1] if nesting else None, line)
            if isinstance(event, yaml.CollectionStartEvent):
                nesting.append(_Collection(is_mapping=isinstance(event, yaml.MappingStartEvent)))
                if len(nesting) > MAX_DEPTH:
                    _refuse("import/depth", f"nesting of at most {MAX_DEPTH}", "deeper nesting", line)


class _Collection:
    """An open list or mapping, the keys it has, and whether a key comes next."""

    def __init__(self, *, is_mapping: bool) -> None:
        self.is_mapping = is_mapping
        self.keys: set[str] = set()
        self.expects_key = is_mapping


def _check_node(event: Any, parent: _Collection | None, line: int) -> None:
    if isinstance(event, yaml.AliasEvent) or event.anchor:
        _refuse("import/yaml_alias", "YAML without anchors and aliases", "one", line)
    if event.tag and event.tag != "!":
        _refuse("import/syntax", "YAML without tags", found(event.tag), line)
    if parent is None or not parent.is_mapping:
        return
    if parent.expects_key:
        if not isinstance(event, yaml.ScalarEvent):
            _refuse("import/syntax", "keys that are text", "a list or mapping", line)
        if event.value in parent.keys:
            _refuse("import/duplicate_key", "each key once", found(event.value), line)
        parent.keys.add(event.value)
    parent.expects_key = not parent.expects_key


def _refuse(code: str, expected: str, what: str, line: int | None, column: int | None = None) -> NoReturn:
    raise DocumentRefusedError((Problem(code, "", expected, what, line, column),))
