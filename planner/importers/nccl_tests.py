"""Output of nccl-tests and rccl-tests: time and bandwidth of one collective at every size of message.

A file may hold several tests; times are microseconds, GB/s are decimal. Lines may carry the rank of a launcher in
front, and pastes stand in prose. Rank lines tell devices and nodes unless they were cut. The JSON of newer versions is
read as well (``nccl_json``).
"""

import re
from collections.abc import Iterator

from planner.importers.json_runs import example, json_runs
from planner.importers.model import Importer, Place, Recognised, Run
from planner.importers.nccl_json import is_json_test, json_test
from planner.importers.nccl_run import CollectiveTest
from planner.importers.nccl_table import Layout, layout_of, measured
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

MAX_LINE = 4096

_PREFIX = re.compile(r"^\s{0,80}(?:\[[0-9]{1,9},[0-9]{1,9}\]<std(?:out|err)>:\s?|[0-9]{1,6}: ?(?=[\s#]))")
_HEADER = re.compile(r"#\s+size\s+count\s+type\b")
_SHOWN = re.compile(
    r"#[ \t]{1,80}size[ \t]{1,80}count[ \t]{1,80}type\b|# (?:nccl|rccl)-tests version |# Collective test"
)
_BEGIN = re.compile(
    r"# (?:(?P<kind>nccl|rccl)-tests version (?P<tool>\S+)|Collective test starting: (?P<op>\S+)|nThread )"
)
_LIBRARY = re.compile(r"(?:nccl|rccl)-library=([0-9]{3,6})\b")
_HEADERS = re.compile(r"(?:nccl|rccl)-headers=([0-9]{3,6})\b")
_PLAIN_LIBRARY = re.compile(r"(?:NCCL|RCCL) version ([0-9]+\.[0-9]+\.[0-9]+)")
_RANK = re.compile(
    r"#\s+Rank\s+([0-9]{1,7})\s+(?:Group\s+[0-9]+\s+)?Pid\s+[0-9]+\s+on\s+(\S+)\s+device\s+([0-9]{1,5})\s+\[[^\]]*\]\s+(.+)"
)
_OPERATION = re.compile(
    r"\b(all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|send_?recv|gather|scatter|reduce|hypercube)"
    r"[_ ]perf",
    re.I,
)
_BOUNDS = re.compile(r"#\s*Out of bounds values\s*:\s*([0-9]{1,18})\s*(\w+)?")


def _recognise(source: Source) -> Recognised | None:
    if is_json_test(example(source)):
        return Recognised(version="JSON", confidence=95)
    return Recognised() if source.shows(("size ", "size\t", "-tests version", "# Collective test"), _SHOWN) else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    return _read_json(source) if recognised.version == "JSON" else _read_text(source)


def _read_json(source: Source) -> Iterator[Run]:
    for sheet, is_test in json_runs(source, is_json_test, "test of nccl-tests"):
        yield json_test(sheet).finished(source.name) if is_test else sheet.finish(asked=False)


def _read_text(source: Source) -> Iterator[Run]:
    test, hint = _Text(1, 1, ""), ""
    for number, line in source.console():
        text = (_PREFIX.sub("", line[:MAX_LINE]) if ":" in line else line[:MAX_LINE]).strip()
        if test.ends_before(text):
            yield test.finished(source.name)
            test, hint = _Text(test.number + 1, number, hint), ""
        if not text.startswith("#") and "perf" in text.lower():
            named = _OPERATION.search(text)
            hint = named[1].lower() if named else hint
        test.take(number, text, hint)
    if test.begun or test.number == 1:
        yield test.finished(source.name)


class _Text(CollectiveTest):
    """One test as text: what stands above its table, and the rows."""

    def __init__(self, number: int, line: int, hint: str) -> None:
        super().__init__(Sheet(f"run-{number}", {}, line=line))
        self.number = number
        self.begun = False
        self._layout = Layout()
        self.hint_operation(hint)

    def ends_before(self, text: str) -> bool:
        """Say whether a line belongs to another test: what stands above a table comes again."""
        if self.rows and (_HEADER.match(text) or _RANK.match(text)):
            return True
        return bool(self.rows or self.has_ranks) and _BEGIN.match(text) is not None

    def take(self, number: int, text: str, hint: str) -> None:
        """Read one line."""
        place = Place(line=number)
        if hint and not self.rows:
            self.hint_operation(hint)
        if text.startswith("#"):
            self._take_comment(text, place)
        elif text[:1].isdecimal():
            if self.begun:
                self.add_row(measured(text, self._layout), place)
        elif text.startswith("..."):
            self.is_cut = self.is_cut or self.begun
        elif library := _PLAIN_LIBRARY.match(text):
            self.sheet.put_text("collective_library_version", library[1], place)

    def _take_comment(self, text: str, place: Place) -> None:
        begin, rank, bounds = _BEGIN.match(text), _RANK.match(text), _BOUNDS.match(text)
        if begin:
            self.begun = True
            self._begin(text, begin, place)
        elif rank:
            self.begun = True
            self.add_rank(int(rank[1]), rank[2], rank[3], rank[4], place)
        elif _HEADER.match(text):
            self.begun = True
            self._layout = layout_of(text.lstrip("#"))
        elif bounds and (bounds[1].strip("0") or bounds[2] == "FAILED"):
            self.out_of_bounds(place)
        self.is_cut = self.is_cut or "Truncated" in text[:20]
        self.has_average = self.has_average or text.startswith("# Avg bus bandwidth")

    def _begin(self, text: str, begin: re.Match[str], place: Place) -> None:
        if begin["op"]:
            self.name_operation(begin["op"], place)
        if begin["tool"]:
            self.sheet.put_text("tool_name", f"{begin['kind']}-tests", place)
            self.sheet.put_text("tool_version", begin["tool"], place)
            library, headers = _LIBRARY.search(text), _HEADERS.search(text)
            self.take_versions(library and int(library[1]), headers and int(headers[1]), place)


IMPORTER = Importer(id="nccl-tests", title="nccl-tests, rccl-tests", recognise=_recognise, read=_read)
