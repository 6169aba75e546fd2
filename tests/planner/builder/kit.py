"""Own small files of one node with four devices, two topologies of them, and the contract that they are for.

Figures fit together: 64 requests in flight, each 100 tokens in and 50 out, TTFT 100 ms and 30 ms a token, make
64 / 1.57 s = 40.76 requests a second.
"""

import json
from collections.abc import Iterable
from io import BytesIO
from typing import Any

from planner.builder import Draft, DraftFile, add_files, answer, confirm, new_draft, read_file, state_of
from planner.builder.state import DraftState
from planner.documents import ContractDocument
from planner.intake import read_contract

Tree = dict[str, Any]
AS_OF = "2026-03-02T00:00:00Z"
BY = "user-7"
BECAUSE = "A reason."
GIB = 2**30
MIB = 2**20

CONTRACT: Tree = {
    "schema": "topogate.contract/v1",
    "slot": "chat/lab",
    "owner": "serving",
    "identity": {
        "model": {
            "name": "example/model-8b",
            "revision": "r1",
            "architecture": "dense",
            "layers": 32,
            "attention_heads": 32,
            "kv_heads": 8,
        },
        "precision": {"weights": "bf16", "activations": "bf16", "kv_cache": "fp8"},
        "workload": {
            "name": "chat",
            "context_tokens": 2048,
            "prefix_cache": {"state": "off"},
            "load_points": {
                "single": {"arrival": "closed", "concurrent_requests": 1},
                "saturated": {"arrival": "closed", "concurrent_requests": 64},
            },
        },
        "stack": {"engine": {"name": "vllm", "version": "0.22.1"}},
        "hardware": {
            "nodes": {"node-a": {}},
            "devices": {
                f"a{index}": {"node": "node-a", "type": "NVIDIA B200", "memory_bytes": 180_000 * MIB}
                for index in range(4)
            },
        },
    },
    "gates": {
        "tensor_locality": {"tensor": {"rule": "inside_node", "because": BECAUSE}},
        "memory_headroom": {"worst_rank": {"load_point": "saturated", "max_sample_interval_s": 1, "because": BECAUSE}},
        "ttft": {"p99": {"load_point": "saturated", "statistic": "p99", "max_ms": 500, "because": BECAUSE}},
        "throughput": {"floor": {"load_point": "saturated", "min_output_tokens_per_s": 1500, "because": BECAUSE}},
    },
    "evidence_required": {
        "kv": {
            "metric": "replicas.kv_capacity_tokens",
            "scope_at_least": "replica",
            "load_points": ["saturated"],
            "level": "required",
            "because": BECAUSE,
        }
    },
    "headroom": {"memory": {"reserved_share": 0.05, "because": BECAUSE}},
    "selection": {"preset": "smallest_first"},
}


def contract(**changed: Any) -> ContractDocument:
    """The contract, some of its sections changed."""
    return read_contract(json.dumps({**CONTRACT, **changed}).encode())


def bench(concurrency: int = 64, *, date: str = "20260301-101500", **changed: Any) -> Tree:
    """A run of ``vllm bench serve`` that Little's law holds for."""
    requests = 2000 if concurrency > 1 else 1000
    duration = requests * 1.57 / concurrency
    run: Tree = {
        "date": date,
        "endpoint_type": "vllm",
        "backend": "vllm",
        "label": None,
        "model_id": "example/model-8b",
        "tokenizer_id": "example/model-8b",
        "num_prompts": requests,
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": concurrency,
        "duration": duration,
        "completed": requests,
        "failed": 0,
        "total_input_tokens": 100 * requests,
        "total_output_tokens": 50 * requests,
        "request_throughput": requests / duration,
        "request_goodput": None,
        "output_throughput": 50 * requests / duration,
        "total_token_throughput": 150 * requests / duration,
    }
    for name, mean in (("ttft", 100.0), ("tpot", 30.0), ("itl", 30.0), ("e2el", 1570.0)):
        run |= {f"mean_{name}_ms": mean, f"median_{name}_ms": mean, f"p99_{name}_ms": mean * 1.5}
    return {**run, **changed}


def log(tp: int = 2, *, model: str = "example/model-8b", kv_tokens: str = "2,000,000") -> str:
    """The log of a server of so many tensor ranks."""
    config = (
        f"model='{model}', speculative_config=None, dtype=torch.bfloat16, max_seq_len=2048, tensor_parallel_size={tp}, "
        "pipeline_parallel_size=1, data_parallel_size=1, decode_context_parallel_size=1, quantization=None, "
        "kv_cache_dtype=fp8, enable_prefix_caching=False"
    )
    lines = [
        f"(EngineCore) INFO 03-01 10:05:09 [core.py:1] Initializing a V1 LLM engine (v0.22.1) with config: {config}",
        f"(Worker pid=9) INFO 03-01 10:05:22 [parallel_state.py:1] rank 0 in world size {tp} is assigned as DP rank 0, "
        "PP rank 0, PCP rank 0, TP rank 0, EP rank N/A, EPLB rank N/A",
        "(Worker_TP0) INFO 03-01 10:05:40 [runner.py:5] Model loading took 7.5 GiB memory and 9 seconds",
        f"(EngineCore pid=8) INFO 03-01 10:05:43 [kv_cache_utils.py:17] GPU KV cache size: {kv_tokens} tokens",
    ]
    return "\n".join(lines) + "\n"


def memory(devices: int = 2, *, hour: str = "10:14", used_mib: float = 100_000.0) -> Tree:
    """A summary of ``nvidia-smi``, sampled once a second over the last 49 seconds of a minute."""
    device = {
        "name": "NVIDIA B200",
        "uuid": "",
        "samples": 49,
        "timestamp_start": f"2026/03/01 {hour}:11.000",
        "timestamp_end": f"2026/03/01 {hour}:59.000",
        "memory_used_mib_max": used_mib,
        "memory_used_mib_avg": used_mib,
        "memory_total_mib_max": 180_000.0,
        "power_draw_w_max": 912.5,
        "gpu_utilization_percent_max": 100.0,
    }
    gpus = {str(index): device for index in range(devices)}
    return {"available": True, "sample_count": devices, "overall": {"memory_used_mib_max": used_mib}, "gpus": gpus}


CONFIG: Tree = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "torch_dtype": "bfloat16",
}

FILES: dict[str, Tree | str] = {
    "tp2_single.json": bench(1, date="20260301-110000"),
    "tp2_saturated.json": bench(),
    "tp2.log": log(2),
    "tp2_memory.json": memory(2),
    "tp4_single.json": bench(1, date="20260301-130000"),
    "tp4_saturated.json": bench(date="20260301-120000"),
    "tp4.log": log(4),
    "tp4_memory.json": memory(4, hour="11:59"),
    "config.json": CONFIG,
}
"""What a team has after an afternoon: loads, logs and memory of two topologies, and the model's shape."""


def read(content: Tree | str | list[Any], name: str = "file") -> DraftFile:
    """Read one file."""
    text = content if isinstance(content, str) else json.dumps(content)
    return read_file(name, BytesIO(text.encode()))


def drafted(files: dict[str, Any] | None = None, document: ContractDocument | None = None) -> Draft:
    """A draft with files, those of the afternoon where none are given."""
    document = document or contract()
    found = [read(content, name) for name, content in (FILES if files is None else files).items()]
    return add_files(new_draft(document), document, found).draft


def run_named(draft: Draft, name: str, number: int = 1) -> str:
    """The id of a run, by the name of its file."""
    return next(f"{own}.{number}" for own, file in draft.files.items() if file.name == name)


def looked_at(draft: Draft, document: ContractDocument | None = None) -> DraftState:
    """Everything about a draft."""
    return state_of(draft, document or contract(), AS_OF)


def placed_files(draft: Draft, runs: Iterable[str]) -> list[str]:
    """The names of the files of runs."""
    return [draft.files[run.partition(".")[0]].name for run in runs]


def completed(draft: Draft, document: ContractDocument | None = None) -> Draft:
    """The draft with what no file says: everything as proposed, and the rest by a person."""
    document = document or contract()
    for at, value in (
        ("/provenance/collected_by", "bench-bot"),
        ("/identities/*/model/revision", "r1"),
        ("/identities/*/workload/prefix_cache/state", "off"),
    ):
        draft = answer(draft, document, at, value, by=BY)
    # A confirmed rank map and end of a window make new proposals.
    for _ in range(2):
        asked = [q.field for q in looked_at(draft, document).questions if q.answered is None and q.proposals]
        draft = confirm(draft, document, asked, by=BY) if asked else draft
    return draft
