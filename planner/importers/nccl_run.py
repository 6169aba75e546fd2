"""One collective test while it is read, from text or JSON: ranks, rows of results, and what they prove together.

Two ranks 0 are two tests that never worked together. The average over all sizes is not kept: a bandwidth belongs to a
size. Bus bandwidth is held against the one that the ranks make of the algorithm's.
"""

from planner.importers.checks import check_name
from planner.importers.model import Place, Run
from planner.importers.nccl_table import Measured, Row, operation_named
from planner.importers.prometheus import anonymous
from planner.importers.sheet import Sheet

__all__ = ["CollectiveTest", "library_version"]

MAX_ROWS = 10_000
FACTOR_TOLERANCE = 0.02
MIN_CHECKED = 2e9
"""Two decimals of GB/s are too coarse below."""
_BUS_FACTORS = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1, "all_to_all": 1}
"""Bus bandwidth = algorithm bandwidth * factor * (n - 1) / n (performance page of nccl-tests)."""
_EXPECTED = (
    *("collective_operation", "bus_bytes_per_s", "collective_ms.mean", "devices", "nodes"),
    "collective_library_version",
)


class CollectiveTest:
    """What one test says; readers call ``add_rank``, ``add_row`` and the rest as they find it, then ``finished``."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.rows = 0
        self.is_cut = False
        self.has_average = False
        self._ranks: list[tuple[int, str, str, Place]] = []
        self._operation: tuple[str, Place] | None = None
        self._hint = ""
        self._skipped: list[Place] = []
        self._zero = 0
        self._seen: dict[str, int] = {}
        self._sizes: set[int] = set()

    @property
    def has_ranks(self) -> bool:
        """Say whether a rank was listed."""
        return bool(self._ranks)

    def add_rank(self, rank: int, host: str, device: str, kind: str, place: Place) -> None:
        """Take one line of the list of ranks."""
        self._ranks.append((rank, host, device, place))
        if self.sheet.value("device_type") is None and kind:
            self.sheet.put_text("device_type", kind, place, standing="measured")

    def name_operation(self, name: str, place: Place) -> None:
        """Take the collective that the test itself names."""
        self._operation = (name.rpartition("/")[2].removesuffix("_perf"), place)

    def hint_operation(self, name: str) -> None:
        """Take a collective that text around the test names, which proves nothing."""
        self._hint = name

    def take_versions(self, library: int | None, headers: int | None, place: Place) -> None:
        """Take the version that ran; the one it was built for is another where they differ."""
        if library is None:
            return
        self.sheet.put_text("collective_library_version", library_version(library), place)
        if headers is not None and headers != library:
            built, ran = library_version(headers), library_version(library)
            self.sheet.remark("import/mixed_versions", f"built for {built}, ran with {ran}: the latter counts", place)

    def out_of_bounds(self, place: Place) -> None:
        """Refuse a test whose own check of results failed."""
        self.sheet.remark("import/wrong_results", "values were out of bounds: results were wrong", place, "refused")

    def add_row(self, row: Row | None, place: Place) -> None:
        """Take the results of one size; None is a row that could not be read."""
        if row is None or self.rows >= MAX_ROWS:
            self._skipped.append(place)
            return
        self.rows += 1
        if row.message_bytes == 0:
            self._zero += 1
            return
        self._sizes.add(row.message_bytes)
        self._seen[row.key] = self._seen.get(row.key, 0) + 1
        repeat = f"-{self._seen[row.key]}" if self._seen[row.key] > 1 else ""
        for way, result in row.results:
            self._take_result(result, f"{row.message_bytes}-bytes-{way}{repeat}", row.message_bytes, place)

    def _take_result(self, result: Measured, of: str, size: int, at: Place) -> None:
        sheet = self.sheet
        sheet.put("message_bytes", size, at, of=of, standing="stated")
        sheet.put("collective_ms.mean", result.time_us, at, unit="us", of=of)
        for statistic, microseconds in result.spread:
            sheet.put(f"collective_ms.{statistic}", microseconds, at, unit="us", of=of)
        sheet.put("algorithm_bytes_per_s", result.algorithm, at, unit="GB/s", of=of)
        sheet.put("bus_bytes_per_s", result.bus, at, unit="GB/s", of=of)
        if result.wrong is not None:
            sheet.put("wrong_results", result.wrong, at, of=of)
            if result.wrong > 0:
                sheet.remark("import/wrong_results", f"{result.wrong} results were wrong at {of}", at, "refused")

    def finished(self, name: str) -> Run:
        """Return the run."""
        operation = self._take_operation()
        self._take_ranks()
        self._note_rows()
        self._check_factor(operation)
        if not self.rows:
            self.sheet.remark("import/no_counters", "the test has no row of results", effect="refused")
        check_name(self.sheet, name)
        return self.sheet.finish(_EXPECTED)

    def _take_operation(self) -> str:
        if self._operation:
            name, place = self._operation
            return self.sheet.put_text("collective_operation", operation_named(name), place)
        hint = operation_named(self._hint)
        if hint:
            self.sheet.put_text("collective_operation", hint, self.sheet.place(), standing="hint")
        around = f"; text around it says {hint}" if hint else ""
        sentence = f"which collective was measured is not in the file{around}"
        self.sheet.remark("import/operation_unknown", sentence, effect="held")
        return ""

    def _take_ranks(self) -> None:
        sheet = self.sheet
        if not self._ranks:
            sheet.remark("import/truncated", "the ranks are not in the file: devices and nodes are not known")
            return
        at = self._ranks[0][3]
        numbers = [rank for rank, *_ in self._ranks]
        if len(set(numbers)) != len(numbers):
            sentence = "a rank stands twice: the processes ran each on its own (MPI was not linked), not as one group"
            sheet.remark("import/separate_runs", sentence, at, "refused")
            return
        sheet.put("group_ranks", max(numbers) + 1, at)
        if max(numbers) + 1 == len(numbers):
            nodes = anonymous("node", (host for _, host, _, _ in self._ranks))
            sheet.put("devices", len({(host, device) for _, host, device, _ in self._ranks}), at)
            sheet.put("nodes", len(nodes), at)
        else:
            sentence = f"{len(numbers)} of {max(numbers) + 1} ranks are listed: nodes and devices are not known"
            sheet.remark("import/truncated", sentence, at)

    def _note_rows(self) -> None:
        sheet = self.sheet
        if self.is_cut:
            sheet.remark("import/truncated", "rows were cut out of the text; those sizes are missing")
        if self._zero:
            sheet.remark("import/zero_size", f"{self._zero} rows of messages without bytes are left out")
        if self._skipped:
            sentence = f"{len(self._skipped)} rows could not be read and are left out"
            sheet.remark("import/line_skipped", sentence, self._skipped[0])
        if self._sizes:
            average = ", not the average over sizes" if self.has_average else ""
            sentence = f"sizes go from {min(self._sizes)} to {max(self._sizes)} bytes: take the size that the model"
            sheet.remark("import/message_size", f"{sentence} sends{average}")
        if self._sizes and not sheet.things("wrong_results"):
            sheet.remark("import/unverified", "no row counts wrong results")

    def _check_factor(self, operation: str) -> None:
        sheet = self.sheet
        ranks, factor = sheet.value("group_ranks"), _BUS_FACTORS.get(operation)
        if not ranks or factor is None:
            return
        for of in sheet.things("bus_bytes_per_s"):
            bus, algorithm = sheet.value("bus_bytes_per_s", of), sheet.value("algorithm_bytes_per_s", of)
            if algorithm is None or algorithm <= MIN_CHECKED:
                continue
            expected = algorithm * factor * (ranks - 1) / ranks
            if abs(bus - expected) > FACTOR_TOLERANCE * max(expected, bus):
                made = f"{ranks} ranks make {expected:g} of {algorithm:g} bytes/s"
                sheet.remark("import/contradiction", f"{of}: bus bandwidth is {bus:g}, but {made}", effect="held")
                return


def library_version(code: int) -> str:
    """Return the version of a code such as 22907: 2.29.7 (NCCL before 2.9 wrote 2804 for 2.8.4)."""
    if code < 10_000:
        return f"{code // 1000}.{code // 100 % 10}.{code % 100}"
    return f"{code // 10_000}.{code // 100 % 100}.{code % 100}"
