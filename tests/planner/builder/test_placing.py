"""Which field a value fills: by window, rank, device, link, serving group and instance, or none yet."""

from io import BytesIO
from typing import Any

from planner.builder import Draft, add_files, answer, file_id, move_run, new_window, read_file
from planner.builder.trees import trees_of
from tests.planner.builder.kit import (
    BY,
    CONTRACT,
    FILES,
    completed,
    contract,
    drafted,
    log,
    looked_at,
    run_named,
)
from tests.planner.importers.exporter_samples import node, vllm
from tests.planner.importers.test_nccl_tests import ROW, output
from tests.planner.importers.test_sglang_bench import server, sglang_run

WINDOW = "/trials/tp2/windows/{}"


def filled(draft: Draft, trial: str = "tp2") -> dict[str, Any]:
    """Every field of a trial that has a value."""
    return {to: what.value for to, what in trees_of(draft, contract()).trials[trial].values.items()}


def reasons(draft: Draft, name: str) -> dict[str, list[str]]:
    """Why values of a file have no place."""
    return {note.sentence: list(note.names) for note in looked_at(draft).unplaced if note.file == name}


def test_what_an_engine_sets_at_its_start_holds_in_every_window() -> None:
    found = filled(completed(drafted()))
    for window in ("saturated", "single"):
        assert found[f"{WINDOW.format(window)}/per_rank/weights_bytes/values/0"] == 7.5 * 2**30
        assert found[f"{WINDOW.format(window)}/replicas/replica-0/kv_capacity_tokens"] == 2_000_000


def test_what_was_seen_over_a_span_waits_for_its_window() -> None:
    served = (
        "Engine 000: Avg prompt throughput: 9.0 tokens/s, Avg generation throughput: 9.0 tokens/s, Running: 64 reqs, "
        "Waiting: 3 reqs, GPU KV cache usage: 25.0%, Prefix cache hit rate: 0.0%"
    )
    loaded = f"{log(2)}(APIServer) INFO 03-01 10:14:30 [loggers.py:1] {served}\n"
    draft = drafted({**FILES, "tp2.log": loaded})
    waiting = "it was seen over one span: move the run to the window that it belongs to"
    assert set(reasons(draft, "tp2.log")[waiting]) == {"kv_used_peak_share", "queued_requests_max"}
    moved = move_run(draft, run_named(draft, "tp2.log"), trial="tp2", window="saturated", copy=True)
    assert filled(moved)[f"{WINDOW.format('saturated')}/load/kv_used_peak_share"] == 0.25


def test_a_memory_figure_stands_on_the_rank_of_its_device() -> None:
    draft = completed(drafted())
    swapped = answer(draft, contract(), "/trials/tp2/rank_map", [place(0, "a1"), place(1, "a3")], by=BY)
    used = f"{WINDOW.format('saturated')}/per_rank/device_used_peak_bytes/values"
    found = filled(swapped)
    assert (f"{used}/0" in found, f"{used}/1" in found) == (True, False)


def place(rank: int, device: str) -> dict[str, Any]:
    return {"rank": rank, "node": "node-a", "device": device}


def test_a_device_that_nobody_named_leaves_its_figures_open() -> None:
    sentence = "say which device of the contract gpu-0 is"
    assert "device_used_peak_bytes" in reasons(drafted(), "tp2_memory.json")[sentence]


def test_replicas_of_a_data_parallel_server_are_serving_groups() -> None:
    lines = log(1).replace("data_parallel_size=1", "data_parallel_size=2").replace("world size 1", "world size 2")
    more = "".join(
        f"(EngineCore_DP{rank}) INFO 03-01 10:05:43 [kv.py:17] GPU KV cache size: {rank + 1},000 tokens\n"
        for rank in range(2)
    )
    last = lines.rindex("(EngineCore")
    draft = drafted({"a.log": lines[:last] + more, "load.json": FILES["tp2_saturated.json"]})
    (trial,) = draft.trials
    assert trial == "tp1-dp2"
    found = filled(completed(draft), trial)
    at = f"/trials/{trial}/windows/saturated/replicas"
    assert [found[f"{at}/replica-{number}/kv_capacity_tokens"] for number in range(2)] == [1000, 2000]


def test_a_split_server_has_an_instance_for_every_pool() -> None:
    info = {
        "internal_states": [{}],
        "prefill": [server(tp_size=2, dp_size=1, ep_size=1, enable_dp_attention=False)],
        "decode": [server(tp_size=4, dp_size=1, ep_size=1, enable_dp_attention=False)],
    }
    run = sglang_run(server_info=info, max_concurrency=64)
    draft = drafted({"run.jsonl": run})
    asked = {question.field: question for question in looked_at(draft).questions}
    (trial,) = draft.trials
    assert trial == "decode-tp4_prefill-tp2"
    instances = asked[f"/trials/{trial}/topology/instances"].proposals[0]
    assert [(one["role"], one["tp"], one["world_size"]) for one in instances.value] == [
        ("prefill", 2, 2),
        ("decode", 4, 4),
    ]
    assert instances.sentence.startswith("files state dp, ep, pp, role, tp; ")


def test_a_test_of_collectives_fills_the_window_that_it_is_moved_to() -> None:
    draft = drafted({**FILES, "allreduce.txt": output(ROW)})
    run = run_named(draft, "allreduce.txt")
    beside = "it was measured beside the load: move the run to an instrumented window where a gate should read it"
    assert "bus_bytes_per_s" in reasons(draft, "allreduce.txt")[beside]
    draft = new_window(draft, contract(), "tp2", "fabric", "saturated", by=BY)
    draft = move_run(draft, run, trial="tp2", window="fabric")
    at = f"{WINDOW.format('fabric')}/collectives"
    found = filled(draft)
    assert {
        to.removeprefix(at): value for to, value in found.items() if to.startswith(f"{at}/536870912-bytes-out/")
    } == {
        "/536870912-bytes-out/operation": "all_reduce",
        "/536870912-bytes-out/message_bytes": 536_870_912,
        "/536870912-bytes-out/time_ms/mean": 2.5,
        "/536870912-bytes-out/bus_bytes_per_s": 240_000_000_000,
        "/536870912-bytes-out/wrong": 0,
    }


def test_a_port_fills_the_link_that_a_person_says_it_is() -> None:
    hardware = {
        **CONTRACT["identity"]["hardware"],
        "nics": {"nic-0": {"node": "node-a", "use": "fabric"}},
        "links": {"up-mlx5-0": {"class": "inter_node", "nic": "nic-0", "bytes_per_s_one_way": 10**11}},
    }
    document = contract(identity={**CONTRACT["identity"], "hardware": hardware})
    scrapes = node(4e14, stamp=" 1772359990000") + node(4.5e14, stamp=" 1772360090000")
    draft = drafted({**FILES, "ib.prom": scrapes}, document)
    draft = move_run(draft, run_named(draft, "ib.prom"), trial="tp2", window="saturated")
    asked = {question.field: question for question in looked_at(draft, document).questions}
    names = asked["/trials/tp2/link_names"]
    assert (names.rows, names.choices, names.needed) == (("mlx5_0-1",), ("up-mlx5-0",), False)
    assert names.proposals[0].value == {"mlx5_0-1": "up-mlx5-0"}
    draft = answer(draft, document, "/trials/*/link_names", names.proposals[0].value, by=BY)
    values = trees_of(draft, document).trials["tp2"].values
    sent = f"{WINDOW.format('saturated')}/links/up-mlx5-0/mixed/tx_bytes_total"
    assert values[sent].value == 50_000_000_000_000


def test_a_leaf_that_the_contract_does_not_bind_is_no_conflict() -> None:
    draft = drafted({**FILES, "a.txt": output(ROW), "tp2.log": log(2) + NCCL})
    assert looked_at(draft).conflicts == ()
    assert "collective_library_version" in [
        name for names in reasons(draft, "a.txt").values() for name in names if name.startswith("collective")
    ]


NCCL = "(Worker pid=9) INFO 03-01 10:06:00 [pynccl.py:113] vLLM is using nccl==2.28.9\n"


def test_two_scrapes_of_a_server_are_the_window_between_them() -> None:
    early, late = (text.encode() for text in (vllm(stamp=" 1772360051000"), vllm(50, stamp=" 1772360100000", scale=2)))
    first = read_file("early.prom", BytesIO(early))
    second = read_file("late.prom", BytesIO(late), before=("early.prom", BytesIO(early)))
    draft = add_files(drafted(), contract(), [second, first]).draft
    assert draft.files[file_id(second.sha256)].before == first.sha256
    assert (
        filled(move_run(draft, run_named(draft, "late.prom"), trial="tp2", window="single"))[
            f"{WINDOW.format('single')}/load/preemptions"
        ]
        == 0
    )
    assert {note.file: note.sentence for note in looked_at(draft).unused}["early.prom"] == (
        "it is the scrape before late.prom, whose counters were read against it"
    )
    assert not any(point.code == "builder/held" for point in looked_at(draft).open)
