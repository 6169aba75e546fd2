"""``vllm bench latency`` and ``vllm bench throughput``: offline, in seconds, without model, sizes or degrees.

One fixed batch, or all requests at once, in one process: nothing of it is a latency of a server, so neither TTFT, TPOT
nor E2E is taken, and throughput waits for a person. Tokens of ``throughput`` are input and output together.
"""

from collections.abc import Iterator
from typing import Any

from planner.importers.checks import check_name
from planner.importers.json_runs import example, json_runs
from planner.importers.model import Importer, Recognised, Run
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_LATENCY = {"avg_latency", "latencies", "percentiles"}
_THROUGHPUT = {"elapsed_time", "num_requests", "total_num_tokens", "tokens_per_second"}
_EXPECTED = (
    "model_name",
    "tp",
    "ttft_ms.p95",
    "tpot_ms.p95",
    "e2e_ms.p95",
    "output_tokens_total",
    "output_tokens_per_s",
)
TOLERANCE = 0.01


def _recognise(source: Source) -> Recognised | None:
    kind = _kind(example(source))
    return Recognised(version=f"vllm bench {kind}") if kind else None


def _kind(tree: Any) -> str:
    if not isinstance(tree, dict):
        return ""
    if tree.keys() >= _LATENCY and isinstance(tree["percentiles"], dict):
        return "latency"
    return "throughput" if len(_THROUGHPUT - tree.keys()) <= 1 else ""


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    for sheet, is_run in json_runs(source, lambda tree: bool(_kind(tree)), "result of vllm bench"):
        kind = _kind(sheet.tree)
        if is_run:
            sheet.put_text("tool_name", f"vllm bench {kind}", sheet.place())
        if kind == "throughput":
            _take_throughput(sheet)
        elif kind:
            sentence = f"one fixed batch took {sheet.get('avg_latency')} s on average: no request of a server did"
            sheet.remark("import/micro_benchmark", sentence, sheet.place("avg_latency"), "held")
        check_name(sheet, source.name)
        yield sheet.finish(_EXPECTED)


def _take_throughput(sheet: Sheet) -> None:
    sheet.number("duration_s", "elapsed_time")
    sheet.number("completed", "num_requests")
    sheet.number("completed_per_s", "requests_per_second")
    sheet.number("total_tokens_per_s", "tokens_per_second")
    sentence = "offline, all requests at once; tokens are input and output together"
    sheet.remark("import/offline", sentence, effect="held")
    total, duration, rate = sheet.get("total_num_tokens"), sheet.value("duration_s"), sheet.value("total_tokens_per_s")
    if isinstance(total, int) and duration and rate and abs(rate - total / duration) > TOLERANCE * rate:
        sentence = f"{rate} tokens/s are not {total} tokens in {duration} s"
        sheet.remark("import/contradiction", sentence, effect="held")


IMPORTER = Importer(id="vllm-bench-offline", title="vllm bench latency, throughput", recognise=_recognise, read=_read)
