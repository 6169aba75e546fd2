"""Results of ``vllm bench serve`` inside a team's own report: phases of runs with means only.

Units stand in the keys (``_req_s``, ``_tok_s``, ``_ms``). No percentile is in it, so a limit on one is answered by
nothing. The degree of tensor parallelism is at most in the name of a folder. Commands are not taken.
"""

from collections.abc import Iterator
from typing import Any

from planner.importers.checks import check_client, check_name, client_quantities
from planner.importers.client import PER_REQUEST_DECODE, answers_from_completed, take_definitions, take_flat_latencies
from planner.importers.model import Importer, Recognised, Run
from planner.importers.scrubbed import found
from planner.importers.sheet import Path, Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_METRICS = {
    "completed": "successful_requests",
    "failed": "failed_requests",
    "duration_s": "benchmark_duration_s",
    "input_tokens_total": "total_input_tokens",
    "output_tokens_total": "total_generated_tokens",
    "completed_per_s": "request_throughput_req_s",
    "output_tokens_per_s": "output_token_throughput_tok_s",
    "total_tokens_per_s": "total_token_throughput_tok_s",
}


def _recognise(source: Source) -> Recognised | None:
    return Recognised() if any(True for _ in _runs(source.first)) else None


def _runs(tree: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield path and body of every run of every phase."""
    phases = tree.get("phases") if isinstance(tree, dict) else None
    for phase_index, phase in enumerate(phases if isinstance(phases, list) else []):
        bench = phase.get("bench") if isinstance(phase, dict) else None
        for index, run in enumerate(bench if isinstance(bench, list) else []):
            if isinstance(run, dict) and isinstance(run.get("metrics"), dict):
                yield ("phases", phase_index, "bench", index), run


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    number = 0
    for document in source.documents():
        for path, run in _runs(document.tree):
            number += 1
            phase = document.tree["phases"][path[1]]
            sheet = Sheet(f"run-{number}", run, base=path, line=document.line)
            _take(sheet, phase)
            check_client(sheet)
            check_name(sheet, source.name)
            yield sheet.finish(client_quantities())


def _take(sheet: Sheet, phase: dict[str, Any]) -> None:
    label = " ".join(str(phase[key]) for key in ("variant", "phase") if isinstance(phase.get(key), str))
    if label:
        sheet.put_text("label", label, sheet.place())
    if sheet.number("concurrent_requests", "concurrency", standing="stated") is not None:
        sheet.put_text("arrival", "closed", sheet.place("concurrency"))
    for name, key in _METRICS.items():
        sheet.number(name, "metrics", key)
    take_flat_latencies(sheet, sheet.get("metrics"), base=("metrics",))
    answers_from_completed(sheet, "ttft_ms", "e2e_ms")
    take_definitions(sheet, tpot=PER_REQUEST_DECODE, itl="per_chunk")
    command = sheet.get("command")
    if isinstance(command, list) and "--model" in command[:-1]:
        index = command.index("--model") + 1
        sheet.text("model_name", "command", index)
    if sheet.get("ok") is False:
        sheet.remark(
            "import/invalid", f"the report calls the run failed: {found(sheet.get('detail'))}", effect="refused"
        )
    sheet.remark("import/failed_unknown", "means only: the report holds no percentile and no count of failures")


IMPORTER = Importer(id="vllm-bench-wrapper", title="report around vllm bench serve", recognise=_recognise, read=_read)
