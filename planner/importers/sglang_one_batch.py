"""SGLang ``bench_one_batch`` and ``bench_one_batch_server``: one static batch a line, seconds.

A micro-benchmark: there is no load, no distribution and no model in it, and ``last_ttft`` is the first token of the
*last* request of the batch. Throughput is held for a person, latencies of serving are missing.
"""

from collections.abc import Iterator
from typing import Any

from planner.importers.checks import check_name
from planner.importers.json_runs import example, json_runs
from planner.importers.model import Importer, Recognised, Run
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_ALWAYS = frozenset({"run_name", "batch_size", "input_len", "output_len"})
_OFFLINE = frozenset({"prefill_latency", "median_decode_latency", "total_latency"})
_SERVER = frozenset({"latency", "output_throughput", "overall_throughput"})
_EXPECTED = (
    "completed",
    "duration_s",
    "ttft_ms.p50",
    "ttft_ms.p95",
    "tpot_ms.p50",
    "model_name",
    "tp",
    "engine_version",
)
TOLERANCE = 0.02


def _recognise(source: Source) -> Recognised | None:
    first = example(source)
    if not _is_run(first):
        return None
    if first.keys() >= _OFFLINE:
        return Recognised(version="bench_one_batch")
    if first.keys() >= _SERVER:
        return Recognised(version="bench_one_batch_server" if "last_ttft" in first else "bench_one_batch_server, old")
    return None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    earlier: set[tuple[str, ...]] = set()
    for sheet, is_run in json_runs(source, _is_run, "run of bench_one_batch"):
        if is_run:
            _take(sheet)
            _check(sheet)
            check_name(sheet, source.name)
            key = tuple(repr(sheet.get(name)) for name in ("run_name", "batch_size", "input_len", "output_len"))
            if key in earlier:
                sentence = (
                    "an earlier line has the same name and sizes: another set-up or a repeat, nothing tells which"
                )
                sheet.remark("import/repeated_run", sentence)
            earlier.add(key)
        yield sheet.finish(_EXPECTED)


def _is_run(tree: Any) -> bool:
    return isinstance(tree, dict) and tree.keys() >= _ALWAYS


def _take(sheet: Sheet) -> None:
    sheet.text("label", "run_name")
    sheet.number("max_batch_size", "batch_size", standing="stated")
    sheet.number("prompt_tokens", "input_len", standing="stated")
    sheet.number("output_tokens", "output_len", standing="stated")
    sheet.put_text("tool_name", "sglang.bench_one_batch", sheet.place())
    sheet.number("duration_s", "total_latency" if "total_latency" in sheet.tree else "latency")
    sheet.number("input_tokens_per_s", "input_throughput")
    sheet.number("output_tokens_per_s", "output_throughput")
    sheet.number("total_tokens_per_s", "overall_throughput")
    accepted = sheet.get("acc_length")
    if accepted != -1:  # the tool's sign for no speculation
        sheet.number("acceptance_length_mean", "acc_length")
    sheet.remark(
        "import/micro_benchmark",
        "one static batch: no load point is like it, and it answers no limit on TTFT, TPOT or E2E",
        effect="held",
    )


def _check(sheet: Sheet) -> None:
    batch, prompt, output = (sheet.value(name) for name in ("max_batch_size", "prompt_tokens", "output_tokens"))
    duration, overall = sheet.value("duration_s"), sheet.value("total_tokens_per_s")
    if None in (batch, prompt, output, overall) or not duration:
        return
    expected = batch * (prompt + output) / duration
    if abs(overall - expected) > TOLERANCE * expected:
        sentence = f"overall throughput is {overall}, but sizes over {duration} s give {expected:.6g}"
        sheet.remark("import/contradiction", sentence, effect="held")
    rate = sheet.value("output_tokens_per_s")
    if rate is not None and rate > overall and rate * duration > 2 * batch * output:
        first = sheet.get("last_ttft")
        sentence = (
            f"output throughput is {rate} with the last first token at {first} s of {duration} s: "
            "the batch did not run at once"
        )
        sheet.remark("import/overloaded", sentence, sheet.place("output_throughput"))


IMPORTER = Importer(id="sglang-one-batch", title="SGLang bench_one_batch", recognise=_recognise, read=_read)
