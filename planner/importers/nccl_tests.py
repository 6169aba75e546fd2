"""Output of nccl-tests and rccl-tests: time and bandwidth of one collective at every size of message.

A file may hold several tests; times are microseconds, GB/s are decimal. The average over all sizes is not kept: a
bandwidth belongs to a size. Rank lines tell devices and nodes unless they were cut; two ranks 0 are two tests that
never worked together. Lines may carry the rank of a launcher in front, and pastes stand in prose.
"""

import re
from collections.abc import Iterator

from planner.importers.checks import check_name
from planner.importers.model import Importer, Place, Recognised, Run
from planner.importers.nccl_table import Measured, measured, operation_named
from planner.importers.prometheus import anonymous
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

MAX_ROWS = 10_000

_PREFIX = re.compile(r"^\s*(?:\[[0-9]+,[0-9]+\]<std(?:out|err)>:\s?|[0-9]{1,6}: ?(?=[\s#]))")
_HEADER = re.compile(r"#\s+size\s+count\s+type\b")
_SHOWN = re.compile(r"#\s+size\s+count\s+type\b|# (?:nccl|rccl)-tests version |# Collective test starting: ", re.M)
_BEGIN = re.compile(
    r"# (?:(?P<kind>nccl|rccl)-tests version (?P<tool>\S+)|Collective test starting: (?P<op>\w+)|nThread )"
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
_BOUNDS = re.compile(r"#\s*Out of bounds values\s*:\s*([0-9]+)\s*(\w+)?")
_BUS_FACTORS = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1, "all_to_all": 1}
"""Bus bandwidth = algorithm bandwidth * factor * (n - 1) / n (performance page of nccl-tests)."""
FACTOR_TOLERANCE = 0.02
_EXPECTED = (
    "collective_operation",
    "bus_bytes_per_s",
    "collective_ms.mean",
    "devices",
    "nodes",
    "collective_library_version",
)


def _recognise(source: Source) -> Recognised | None:
    return Recognised(confidence=90) if source.shows(("#",), _SHOWN) else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    test, hint = _Test(1, 1, ""), ""
    for number, line in source.console():
        text = _PREFIX.sub("", line[:MAX_LINE]).strip()
        if test.ends_before(text):
            yield test.finished(source.name)
            test, hint = _Test(test.number + 1, number, hint), ""
        if not text.startswith("#"):
            named = _OPERATION.search(text)
            hint = named[1].lower() if named else hint
        test.take(number, text, hint)
    if test.begun or test.number == 1:
        yield test.finished(source.name)


MAX_LINE = 4096


class _Test:
    """One test: what stands above its table, and the rows."""

    def __init__(self, number: int, line: int, hint: str) -> None:
        self.number = number
        self.sheet = Sheet(f"run-{number}", {}, line=line)
        self.begun = False
        self.rows = 0
        self._ranks: list[tuple[int, str, str, int]] = []
        self._operation: tuple[str, int] | None = None
        self._hint = hint
        self._cut = False
        self._skipped: list[int] = []
        self._zero = 0
        self._seen: dict[str, int] = {}
        self._sizes: set[int] = set()
        self._average = False

    def ends_before(self, text: str) -> bool:
        """Say whether a line belongs to another test: what stands above a table comes again."""
        if self.rows and (_HEADER.match(text) or _RANK.match(text)):
            return True
        return bool(self.rows or self._ranks) and _BEGIN.match(text) is not None

    def take(self, number: int, text: str, hint: str) -> None:
        """Read one line."""
        if hint and not self.rows:
            self._hint = hint
        begin, rank = _BEGIN.match(text), _RANK.match(text)
        if begin:
            self.begun = True
            self._begin(number, text, begin)
        elif rank:
            self._rank(number, rank)
        elif text.startswith("#"):
            self.begun = self.begun or _HEADER.match(text) is not None
            self._note(number, text)
        elif text[:1].isdecimal():
            self._row(number, text)
        elif text.startswith("..."):
            self._cut = self._cut or self.begun
        elif _PLAIN_LIBRARY.match(text):
            self.sheet.put_text("collective_library_version", text.split()[2].partition("+")[0], Place(line=number))

    def _rank(self, number: int, rank: re.Match[str]) -> None:
        self.begun = True
        self._ranks.append((int(rank[1]), rank[2], rank[3], number))
        if self.sheet.value("device_type") is None:
            self.sheet.put_text("device_type", rank[4], Place(line=number), standing="measured")

    def _begin(self, number: int, text: str, begin: re.Match[str]) -> None:
        at = Place(line=number)
        if begin["op"]:
            self._operation = (begin["op"].removesuffix("_perf"), number)
        if begin["tool"]:
            self.sheet.put_text("tool_name", f"{begin['kind']}-tests", at)
            self.sheet.put_text("tool_version", begin["tool"], at)
            library, headers = _LIBRARY.search(text), _HEADERS.search(text)
            if library:
                self.sheet.put_text("collective_library_version", _version(int(library[1])), at)
            if library and headers and library[1] != headers[1]:
                sentence = (
                    f"built for {_version(int(headers[1]))}, ran with {_version(int(library[1]))}: the latter counts"
                )
                self.sheet.remark("import/mixed_versions", sentence, at)

    def _note(self, number: int, text: str) -> None:
        bounds = _BOUNDS.match(text)
        if bounds and (bounds[1].strip("0") or bounds[2] == "FAILED"):
            sentence = "values were out of bounds: results were wrong"
            self.sheet.remark("import/wrong_results", sentence, Place(line=number), "refused")
        self._cut = self._cut or "Truncated" in text[:20]
        self._average = self._average or text.startswith("# Avg bus bandwidth")

    def _row(self, number: int, text: str) -> None:
        if not self.begun:
            return
        row = measured(text)
        if row is None or self.rows >= MAX_ROWS:
            self._skipped.append(number)
            return
        self.rows += 1
        if row.message_bytes == 0:
            self._zero += 1
            return
        self._sizes.add(row.message_bytes)
        self._seen[row.key] = self._seen.get(row.key, 0) + 1
        repeat = f"-{self._seen[row.key]}" if self._seen[row.key] > 1 else ""
        for way, result in row.results:
            self._result(number, result, f"{row.message_bytes}-bytes-{way}{repeat}", row.message_bytes)

    def _result(self, number: int, result: Measured, of: str, size: int) -> None:
        at, sheet = Place(line=number), self.sheet
        sheet.put("message_bytes", size, at, of=of, standing="stated")
        sheet.put("collective_ms.mean", result.time_us, at, unit="us", of=of)
        sheet.put("algorithm_bytes_per_s", result.algorithm, at, unit="GB/s", of=of)
        sheet.put("bus_bytes_per_s", result.bus, at, unit="GB/s", of=of)
        if result.wrong is not None:
            sheet.put("wrong_results", result.wrong, at, of=of)
            if result.wrong > 0:
                sentence = f"{result.wrong} results were wrong at {of}"
                sheet.remark("import/wrong_results", sentence, at, "refused")

    def finished(self, name: str) -> Run:
        """Return the run."""
        sheet = self.sheet
        operation = self._take_operation()
        self._take_ranks()
        self._notes()
        self._check_factor(operation)
        if not self.rows:
            sheet.remark("import/no_counters", "the test has no row of results", effect="refused")
        check_name(sheet, name)
        return sheet.finish(_EXPECTED)

    def _take_operation(self) -> str:
        if self._operation:
            name, line = self._operation
            return self.sheet.put_text("collective_operation", operation_named(name), Place(line=line))
        hint = operation_named(self._hint)
        if hint:
            self.sheet.put_text("collective_operation", hint, self.sheet.place(), standing="hint")
        question = "which collective was measured is not in the file" + (
            f"; text around it says {hint}" if hint else ""
        )
        self.sheet.remark("import/operation_unknown", question, effect="held")
        return ""

    def _take_ranks(self) -> None:
        sheet = self.sheet
        if not self._ranks:
            sheet.remark("import/truncated", "the ranks are not in the file: devices and nodes are not known")
            return
        at = Place(line=self._ranks[0][3])
        numbers = [rank for rank, *_ in self._ranks]
        if len(set(numbers)) != len(numbers):
            sentence = "a rank stands twice: the processes ran each on its own (MPI was not linked), not as one group"
            sheet.remark("import/separate_runs", sentence, at, "refused")
            return
        whole = max(numbers) + 1 == len(numbers)
        sheet.put("group_ranks", max(numbers) + 1, at)
        if whole:
            nodes = anonymous("node", (host for _, host, _, _ in self._ranks))
            sheet.put("devices", len({(host, device) for _, host, device, _ in self._ranks}), at)
            sheet.put("nodes", len(nodes), at)
        else:
            sentence = f"{len(numbers)} of {max(numbers) + 1} ranks are listed: nodes and devices are not known"
            sheet.remark("import/truncated", sentence, at)

    def _notes(self) -> None:
        sheet = self.sheet
        if self._cut:
            sheet.remark("import/truncated", "rows were cut out of the text; those sizes are missing")
        if self._zero:
            sheet.remark("import/zero_size", f"{self._zero} rows of messages without bytes are left out")
        if self._skipped:
            sentence = f"{len(self._skipped)} rows could not be read and are left out"
            sheet.remark("import/line_skipped", sentence, Place(line=self._skipped[0]))
        if self._sizes:
            sentence = (
                f"sizes go from {min(self._sizes)} to {max(self._sizes)} bytes: take the size that the model sends"
                + (", not the average over sizes" if self._average else "")
            )
            sheet.remark("import/message_size", sentence)
        if self._sizes and not sheet.things("wrong_results"):
            sheet.remark("import/unverified", "no row counts wrong results")

    def _check_factor(self, operation: str) -> None:
        sheet = self.sheet
        ranks, factor = sheet.value("group_ranks"), _BUS_FACTORS.get(operation)
        if not ranks or factor is None:
            return
        for of in sheet.things("bus_bytes_per_s"):
            bus, algorithm = sheet.value("bus_bytes_per_s", of), sheet.value("algorithm_bytes_per_s", of)
            if algorithm is None:
                continue
            expected = algorithm * factor * (ranks - 1) / ranks
            if algorithm > MIN_CHECKED and abs(bus - expected) > FACTOR_TOLERANCE * max(expected, bus):
                sentence = (
                    f"{of}: bus bandwidth is {bus:g}, but {ranks} ranks make {expected:g} of {algorithm:g} bytes/s"
                )
                sheet.remark("import/contradiction", sentence, effect="held")
                return


MIN_CHECKED = 2e9
"""Two decimals of GB/s are too coarse below."""


def _version(code: int) -> str:
    """Return the version of a code such as 22907: 2.29.7 (NCCL before 2.9 wrote 2804 for 2.8.4)."""
    if code < 10_000:
        return f"{code // 1000}.{code // 100 % 10}.{code % 100}"
    return f"{code // 10_000}.{code // 100 % 100}.{code % 100}"


IMPORTER = Importer(id="nccl-tests", title="nccl-tests, rccl-tests", recognise=_recognise, read=_read)
