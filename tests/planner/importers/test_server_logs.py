"""Logs of vLLM and SGLang servers: what the engine printed of itself, and what a log does not show."""

import pytest

from tests.planner.importers.samples import codes, imported, only_run, place, values

GIB = 2**30

VLLM = """\
(APIServer pid=7) INFO 06-10 20:35:00 [utils.py:344]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.22.1
(APIServer pid=7) INFO 06-10 20:35:00 [utils.py:278] non-default args: {'model': '/home/ann/models/org--moe', \
'api_key': 'sk-abcdefgh12345678', 'tensor_parallel_size': 2, 'gpu_memory_utilization': 0.9}
(EngineCore pid=8) INFO 06-10 20:35:09 [core.py:112] Initializing a V1 LLM engine (v0.22.1) with config: \
model='/home/ann/models/org--moe', speculative_config=None, revision=None, dtype=torch.bfloat16, max_seq_len=2068, \
tensor_parallel_size=2, pipeline_parallel_size=1, data_parallel_size=1, decode_context_parallel_size=1, \
quantization=mxfp4, quantization_config=None, kv_cache_dtype=auto, enable_prefix_caching=False
(Worker pid=9) INFO 06-10 20:35:20 [pynccl.py:113] vLLM is using nccl==2.28.9
(Worker pid=9) INFO 06-10 20:35:21 [cuda_communicator.py:232] Using ['CUSTOM', 'PYNCCL'] all-reduce backends \
(in dispatch order) for group 'tp:0' out of potential backends: ['CUSTOM', 'PYNCCL'].
(Worker pid=9) INFO 06-10 20:35:22 [parallel_state.py:1735] rank 0 in world size 2 is assigned as DP rank 0, \
PP rank 0, PCP rank 0, TP rank 0, EP rank 0, EPLB rank N/A
(Worker_TP0 pid=9) INFO 06-10 20:35:40 [gpu_model_runner.py:5132] Model loading took 34.5 GiB memory and 49.7 seconds
(Worker_TP1 pid=10) INFO 06-10 20:35:41 [gpu_model_runner.py:6365] Estimated CUDA graph memory: 1.03 GiB total
(Worker_TP0 pid=9) INFO 06-10 20:35:42 [gpu_worker.py:466] Available KV cache memory: 88.75 GiB
(EngineCore pid=8) INFO 06-10 20:35:43 [kv_cache_utils.py:1733] GPU KV cache size: 2,560,976 tokens
(EngineCore pid=8) INFO 06-10 20:35:43 [kv_cache_utils.py:17] Maximum concurrency for 2,068 tokens per request: 1238.38x
(Worker_TP0 pid=9) INFO 06-10 20:35:50 [gpu_model_runner.py:6456] Graph capturing finished in 99 secs, took 0.5 GiB
(APIServer pid=7) INFO 06-10 20:36:10 [loggers.py:271] Engine 000: Avg prompt throughput: 6339.3 tokens/s, \
Avg generation throughput: 912.8 tokens/s, Running: 64 reqs, Waiting: 0 reqs, GPU KV cache usage: 25.0%, \
Prefix cache hit rate: 0.0%
(APIServer pid=7) INFO 06-10 20:36:20 [loggers.py:271] Engine 000: Avg prompt throughput: 6339.3 tokens/s, \
Avg generation throughput: 912.8 tokens/s, Running: 29 reqs, Waiting: 35 reqs, GPU KV cache usage: 12.5%, \
Prefix cache hit rate: 0.0%
"""


def test_a_log_of_vllm_gives_what_the_engine_printed() -> None:
    read = imported(VLLM)
    (run,) = read.runs
    assert (read.format, read.version, read.status) == ("vllm-log", "0.22.1", "usable")
    assert values(run) == {
        "local_time": "06-10 20:35:00",
        "engine_version": "0.22.1",
        "model_name": "org--moe",
        "tp": 2,
        "memory_budget_share": 0.9,
        "pp": 1,
        "dp": 1,
        "dcp": 1,
        "ep": 1,
        "context_tokens": 2068,
        "precision_activations": "bf16",
        "precision_weights": "mxfp4",
        "prefix_cache": "off",
        "speculation": "none",
        "collective_library_version": "2.28.9",
        "world_size": 2,
        "kv_capacity_tokens": 2_560_976,
        "kv_measured_at_context_tokens": 2068,
        "kv_max_concurrent_requests": 1238.38,
        "engine_name": "vllm",
        "layout": "vllm",
        "kv_used_peak_share": 0.25,
        "queued_requests_max": 35,
    }
    assert values(run, "tp0") == {
        "weights_bytes": 34.5 * GIB,
        "kv_cache_bytes": 88.75 * GIB,
        "graph_bytes": GIB // 2,
    }
    assert values(run, "tp") == {"all_reduce_path": "['CUSTOM', 'PYNCCL']"}
    assert place(run, "kv_capacity_tokens").line == 10
    assert run.missing == ("precision_kv_cache", "device_used_peak_bytes")


def test_no_key_and_no_account_leaves_a_log() -> None:
    assert "sk-abcdefgh" not in repr(imported(VLLM))
    assert "ann" not in [part for value in only_run(VLLM).values for part in str(value.value).split("/")]


def test_a_rank_of_an_expert_group_shows_no_expert_parallelism() -> None:
    assert "import/ep_not_shown" in codes(only_run(VLLM))
    run = only_run(
        VLLM.replace("'tensor_parallel_size': 2,", "'tensor_parallel_size': 2, 'enable_expert_parallel': True,")
    )
    assert values(run)["ep"] == 2
    assert "import/ep_not_shown" not in codes(run)


def test_the_world_size_is_read_and_has_to_be_the_product_of_the_degrees() -> None:
    run = only_run(VLLM.replace("in world size 2", "in world size 4"))
    assert values(run)["world_size"] == 4
    assert codes(run, "held") == ["import/contradiction"]


@pytest.mark.parametrize(
    ("said", "ranks"),
    [
        ("rank 0 in world size 4 is assigned as DP rank 0, PP rank 0, TP rank 0", 4),
        ("rank 5 in world size 32 is assigned as DP rank 1, PP rank 0, TP rank 1, EP rank 5", 32),
    ],
)
def test_older_lines_of_ranks_are_read(said: str, ranks: int) -> None:
    run = only_run(f"INFO 06-10 20:35:22 [parallel_state.py:1004] {said}\n")
    assert values(run)["world_size"] == ranks


def test_every_replica_has_its_own_capacity() -> None:
    line = "(EngineCore_DP{0} pid={0}) INFO 06-10 20:35:43 [kv_cache_utils.py:1] GPU KV cache size: {1} tokens\n"
    run = only_run(line.format(0, "1,000") + line.format(1, "1,008"))
    assert values(run, "dp0") == {"kv_capacity_tokens": 1000}
    assert values(run, "dp1") == {"kv_capacity_tokens": 1008}
    assert run.status == "usable"


def test_the_only_replica_of_an_older_engine_has_no_name() -> None:
    line = "(EngineCore_0 pid=8) INFO 06-10 20:35:43 [kv_cache_utils.py:829] GPU KV cache size: 178,880 tokens\n"
    assert values(only_run(line)) == {"local_time": "06-10 20:35:43", "kv_capacity_tokens": 178_880}
    both = only_run(line + line.replace("EngineCore_0", "EngineCore_1").replace("178,880", "178,896"))
    assert values(both, "dp1") == {"kv_capacity_tokens": 178_896}
    assert both.status == "usable"


@pytest.mark.parametrize(
    ("prefix", "of"),
    [
        ("(VllmWorker rank=1 pid=12) INFO 06-10 20:35:43 [gpu_model_runner.py:1] ", "rank1"),
        ("(VllmWorkerProcess pid=12) INFO 06-10 20:35:43 model_runner.py:1] ", ""),
        ("(EngineCore_0 pid=3) (Worker_DP1_TP0_EP4 pid=12) INFO 06-10 20:35:43 [worker.py:1] ", "dp1-tp0-ep4"),
        ("(EngineCore pid=3) (RayWorkerWrapper pid=12, ip=192.0.2.4) INFO 06-10 20:35:43 [worker.py:1] ", ""),
        ("vllm-1  | 2026-06-10T20:35:43.123Z (Worker_TP1 pid=12) INFO 06-10 20:35:43 [worker.py:1] ", "tp1"),
        ("\x1b[36m(Worker_TP1 pid=12)\x1b[0;0m INFO 06-10 20:35:43 [worker.py:1] ", "tp1"),
        ("shards: 50%|     | 1/2\r(Worker_TP1 pid=12) INFO 06-10 20:35:43 [worker.py:1] ", "tp1"),
    ],
)
def test_every_prefix_of_a_line_is_known(prefix: str, of: str) -> None:
    run = only_run(f"{prefix}Loading model weights took 14.5 GB\n" + VLLM)
    assert values(run, of)["weights_bytes"] == 14.5 * GIB
    assert values(run)["local_time"] == "06-10 20:35:43"
    assert "192.0.2.4" not in repr(run)


def test_two_capacities_of_one_replica_hold_the_run() -> None:
    run = only_run(VLLM + "(EngineCore pid=8) INFO 06-10 20:35:44 [kv.py:1] GPU KV cache size: 5 tokens\n")
    assert values(run)["kv_capacity_tokens"] == 2_560_976
    assert codes(run, "held") == ["import/contradiction"]


def test_the_old_profile_of_memory_is_read_and_a_second_one_is_another_run() -> None:
    profile = """\
INFO 12-13 19:54:18 worker.py:243] Memory profiling results:
INFO 12-13 19:54:18 worker.py:243] total_gpu_memory     79.25GiB
INFO 12-13 19:54:18 worker.py:243] model weights take   {0}GiB
INFO 12-13 19:54:18 worker.py:243] non_torch_memory     1.75GiB
INFO 12-13 19:54:18 worker.py:243] PyTorch activation peak memory       1.25GiB
INFO 12-13 19:54:18 worker.py:243] available_kv_cache_memory    53.5GiB
"""
    first, second = imported(profile.format("15.0") + profile.format("7.5")).runs
    assert values(first) == {
        "local_time": "12-13 19:54:18",
        "device_memory_bytes": 79.25 * GIB,
        "weights_bytes": 15 * GIB,
        "other_memory_bytes": 1.75 * GIB,
        "activations_bytes": 1.25 * GIB,
        "kv_cache_bytes": 53.5 * GIB,
    }
    assert values(second)["weights_bytes"] == 7.5 * GIB
    assert second.place.line == 7


def test_one_line_of_the_older_profile_is_read() -> None:
    run = only_run(
        "INFO 01-02 03:04:05 worker.py:241] model weights take 15.0GiB; non_torch_memory takes 0.5GiB; PyTorch "
        "activation peak memory takes 1.25GiB; the rest of the memory reserved for KV Cache is 53.5GiB.\n"
    )
    assert values(run)["kv_cache_bytes"] == 53.5 * GIB
    assert values(run)["activations_bytes"] == 1.25 * GIB


def test_a_server_that_did_not_start_is_no_evidence_and_its_message_is_not_kept() -> None:
    run = only_run(
        "(APIServer pid=1) INFO 08-18 02:57:50 [api.py:1] version 0.25.1\n"
        "(APIServer pid=1) Traceback (most recent call last):\n"
        "(APIServer pid=1) torch.OutOfMemoryError: text of somebody\n"
    )
    assert codes(run, "refused") == ["import/start_failed"]
    assert "somebody" not in repr(run)


def test_collectives_that_timed_out_are_counted_once_each() -> None:
    line = (
        "[rank{0}]:[E517 20:17:34.98 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=19, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, Timeout(ms)=600000) ran\n"
    )
    run = only_run(line.format(0) + line.format(1))
    assert values(run) == {"collective_timeouts": 1}
    assert codes(run, "refused") == ["import/collective_timeout"]


def test_a_text_of_a_user_is_no_setting() -> None:
    line = "(APIServer pid=7) INFO 06-10 20:36:00 [logger.py:1] Received request a: prompt: 'tensor_parallel_size=64'\n"
    run = only_run(VLLM + line)
    assert values(run)["tp"] == 2
    assert "Received" not in repr(run)


SGLANG = """\
[2026-05-01 10:00:00] server_args=ServerArgs(model_path='/models/org--chat', host='192.0.2.7', api_key='very-secret', \
tp_size=2, pp_size=1, dp_size=1, ep_size=1, nnodes=1, quantization='fp8', kv_cache_dtype='auto', revision=None, \
enable_dp_attention=False, disable_radix_cache=True, speculative_algorithm=None)
[2026-05-01 10:00:10 TP0] Load weight end. type=Chat, dtype=torch.bfloat16, avail mem=60.0 GB, mem usage=14.5 GB.
[2026-05-01 10:00:10 TP1] Load weight end. type=Chat, dtype=torch.bfloat16, avail mem=60.0 GB, mem usage=14.25 GB.
[2026-05-01 10:00:12 TP0] KV Cache is allocated. #tokens: 367404, K size: 8.25 GB, V size: 8.25 GB
[2026-05-01 10:00:12 TP1] KV Cache is allocated. #tokens: 367404, K size: 8.25 GB, V size: 8.25 GB
[2026-05-01 10:00:20 TP0] Capture cuda graph end. Time elapsed: 8.0 s. mem usage=1.5 GB. avail mem=5.0 GB.
[2026-05-01 10:00:21 TP0] max_total_num_tokens=367404, chunked_prefill_size=8192, context_len=32768
[2026-05-01 10:01:00 TP0] Decode batch. #running-req: 32, #token: 4000, token usage: 0.25, \
gen throughput (token/s): 900.0, #queue-req: 3
"""


def test_a_log_of_sglang_gives_what_the_engine_printed_and_its_gb_are_gib() -> None:
    read = imported(SGLANG)
    (run,) = read.runs
    assert (read.format, read.status) == ("sglang-log", "usable")
    assert values(run) == {
        "local_time": "2026-05-01 10:00:00",
        "tp": 2,
        "pp": 1,
        "dp": 1,
        "ep": 1,
        "nodes": 1,
        "model_name": "org--chat",
        "precision_weights": "fp8",
        "precision_activations": "bf16",
        "prefix_cache": "off",
        "attention_dp": "off",
        "kv_capacity_tokens": 367_404,
        "context_tokens": 32_768,
        "engine_name": "sglang",
        "layout": "sglang",
        "kv_used_peak_share": 0.25,
        "queued_requests_max": 3,
    }
    assert values(run, "tp0") == {
        "weights_bytes": 14.5 * GIB,
        "kv_cache_bytes": 16.5 * GIB,
        "graph_bytes": 1.5 * GIB,
    }
    assert values(run, "tp1") == {"weights_bytes": 14.25 * GIB, "kv_cache_bytes": 16.5 * GIB}
    assert "very-secret" not in repr(read)


def test_lines_of_two_engines_in_one_file_are_refused() -> None:
    read = imported("GPU KV cache size: 178,880 tokens\n\nKV Cache is allocated. #tokens: 9, K size: 8.23 GB\n")
    assert [problem.code for problem in read.problems] == ["import/ambiguous"]
