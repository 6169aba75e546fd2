"""A contract as somebody writes it by form, for tests of the pages."""

import json
from typing import Any

from django.test import Client

from planner.contract_builder.draft import draft_from
from reviews.models import Draft
from tests.shared import ROOT

TOPO = (ROOT / "tests/data/hardware/nvidia_6gpu_bridged.txt").read_bytes()
CONFIG: dict[str, Any] = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}


def begin(client: Client, **fields: Any) -> Draft:
    answer = client.post("/w/lab/contracts/", {"act": "empty", **fields})
    assert answer.status_code == 302, answer.content.decode()
    return Draft.objects.order_by("-pk")[0]


def send(client: Client, draft: Draft, step: str, act: str = "save", **fields: Any) -> Any:
    sent = {
        "act": act,
        "version": fields.pop("version", Draft.objects.get(pk=draft.pk).version),
        **fields.pop("typed", {}),
    }
    return client.post(f"/w/lab/contracts/{draft.pk}/{step}/", {**sent, **fields})


def tree_of(draft: Draft) -> dict[str, Any]:
    return draft_from(bytes(Draft.objects.get(pk=draft.pk).body)).tree


def shown(client: Client, draft: Draft, step: str, query: str = "") -> str:
    answer = client.get(f"/w/lab/contracts/{draft.pk}/{step}/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


POINT = "/identity/workload/load_points/saturated"
LIMIT = "/gates/ttft/saturated_p95"
WRITTEN: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("service", "save", {"/slot": "chat/eu-west", "/owner": "serving"}),
    ("model", "model-files", {"config_text": json.dumps(CONFIG)}),
    ("model", "save", {"/identity/model/name": "own/llama-8b", "/identity/model/revision": "r1"}),
    ("model", "save", {"/identity/precision/kv_cache": "bf16"}),
    ("workload", "add:/identity/workload/load_points|saturated", {"/identity/workload/name": "chat"}),
    ("workload", "save", {f"{POINT}/arrival": "closed", f"{POINT}/concurrent_requests": "64"}),
    ("stack", "save", {"/identity/stack/engine/name": "vllm", "/identity/stack/engine/version": "0.33.0"}),
    (
        "hardware",
        "node-class",
        {"class_nodes": "2", "class_devices": "8", "class_type": "accel-80g", "class_memory_bytes": "80 GiB"},
    ),
    ("limits", "limit", {"limit_gate": "ttft", "limit_id": "saturated_p95"}),
    ("limits", "save", {f"{LIMIT}/load_point": "saturated", f"{LIMIT}/statistic": "p95", f"{LIMIT}/max_ms": "500"}),
    ("limits", "save", {f"{LIMIT}/because": "The page shows a waiting state from half a second on."}),
    ("selection", "save", {"/selection/preset": "highest_throughput"}),
)
"""Step, button and fields, in the order in which somebody sends them."""


def written(client: Client) -> Draft:
    """A contract of 16 devices with one limit, written by form."""
    draft = begin(client)
    for step, act, fields in WRITTEN:
        assert send(client, draft, step, act, typed=fields).status_code == 302, (step, act)
    return draft
