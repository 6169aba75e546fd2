"""Scrapes as the exporters of vLLM, of DCGM and of nodes give them."""


def vllm(
    completed: int = 30, *, usage: float = 0.25, waiting: int = 6, stamp: str = "", engine: str = "0", scale: int = 1
) -> str:
    """A scrape after 40 first tokens: 20 within 100 ms, 38 within 250 ms, all within 500 ms, 6 s in sum."""
    labels = f'engine="{engine}",model_name="org/chat"'
    lines = [
        "# HELP vllm:num_requests_running Number of requests in model execution batches.",
        "# TYPE vllm:num_requests_running gauge",
        f"vllm:num_requests_running{{{labels}}} 64.0",
        f"vllm:num_requests_waiting{{{labels}}} {waiting}.0",
        f'vllm:num_requests_waiting_by_reason{{{labels},reason="capacity"}} {waiting}.0',
        f"vllm:kv_cache_usage_perc{{{labels}}} {usage}",
        f"vllm:prefix_cache_queries_total{{{labels}}} 1000.0",
        f"vllm:prefix_cache_hits_total{{{labels}}} 250.0",
        f"vllm:num_preemptions_total{{{labels}}} 2.0",
        f"vllm:num_preemptions_created{{{labels}}} 1.786929018621065e+09",
        f"vllm:prompt_tokens_total{{{labels}}} {1000 * scale}.0",
        f"vllm:generation_tokens_total{{{labels}}} {500 * scale}.0",
        f'vllm:request_success_total{{{labels},finished_reason="stop"}} 10.0',
        f'vllm:request_success_total{{{labels},finished_reason="length"}} {completed - 10}.0',
        f'vllm:request_success_total{{{labels},finished_reason="abort"}} 1.0',
        f'vllm:request_success_total{{{labels},finished_reason="error"}} 3.0',
        f'vllm:time_to_first_token_seconds_bucket{{{labels},le="0.1"}} {20 * scale}.0',
        f'vllm:time_to_first_token_seconds_bucket{{{labels},le="0.25"}} {38 * scale}.0',
        f'vllm:time_to_first_token_seconds_bucket{{{labels},le="0.5"}} {39 * scale}.0',
        f'vllm:time_to_first_token_seconds_bucket{{{labels},le="+Inf"}} {40 * scale}.0',
        f"vllm:time_to_first_token_seconds_count{{{labels}}} {40 * scale}.0",
        f"vllm:time_to_first_token_seconds_sum{{{labels}}} {6 * scale}.0",
        f'vllm:cache_config_info{{block_size="16",cache_dtype="auto",enable_prefix_caching="True",engine="{engine}",'
        'gpu_memory_utilization="0.3",kv_cache_max_concurrency="195.5",kv_cache_size_tokens="400448",'
        'num_gpu_blocks="25028"} 1.0',
    ]
    return "".join(f"{line}{'' if line.startswith('#') else stamp}\n" for line in lines)


def sglang(requests: int = 30, *, usage: float = 0.25, waiting: int = 6, ranks: int = 2, dp: int = 1) -> str:
    """A scrape of all schedulers: each rank of a data parallel one says the same; 40 first tokens, 38 within 250 ms."""
    lines = ["# HELP sglang:num_running_reqs The number of running requests.", "# TYPE sglang:num_running_reqs gauge"]
    for engine in range(dp):
        for rank in range(ranks):
            labels = f'engine_type="unified",model_name="org/chat",pid="8{rank}",pp_rank="0",tp_rank="{rank}"'
            labels += f',dp_rank="{engine}"' if dp > 1 else ""
            lines += [
                f"sglang:num_running_reqs{{{labels}}} 64.0",
                f"sglang:num_queue_reqs{{{labels}}} {waiting}.0",
                f"sglang:token_usage{{{labels}}} {usage}",
                f"sglang:max_total_num_tokens{{{labels}}} 367404.0",
                f"sglang:gen_throughput{{{labels}}} 38.5",
                f"sglang:prompt_tokens_total{{{labels}}} {100 * requests}.0",
                f"sglang:generation_tokens_total{{{labels}}} {50 * requests}.0",
                f'sglang:num_requests_total{{{labels},is_streaming="true"}} {requests - 10}.0',
                f'sglang:num_requests_total{{{labels},is_streaming="false"}} 10.0',
                f"sglang:num_aborted_requests_total{{{labels}}} 1.0",
                f'sglang:time_to_first_token_seconds_bucket{{{labels},le="0.25"}} 38.0',
                f'sglang:time_to_first_token_seconds_bucket{{{labels},le="0.5"}} 40.0',
                f'sglang:time_to_first_token_seconds_bucket{{{labels},le="+Inf"}} 40.0',
                f"sglang:time_to_first_token_seconds_count{{{labels}}} 40.0",
                f"sglang:time_to_first_token_seconds_sum{{{labels}}} 6.0",
            ]
    return "".join(f"{line}\n" for line in lines)


def device(name: str, gpu: int, value: str, more: str = "", *, host: str = "Hostname", stamp: str = "") -> str:
    return (
        f'{name}{{gpu="{gpu}", UUID="GPU-{gpu}",modelName="NVIDIA B200",{host}="secret.host.example",'
        f'DCGM_FI_DRIVER_VERSION="580.105.05"{more}}} {value}{stamp}\n'
    )


def dcgm(used: int = 1024, stamp: str = "") -> str:
    return "".join(
        device(name, gpu, value, stamp=stamp)
        for name, value in (
            ("DCGM_FI_DEV_FB_USED", str(used)),
            ("DCGM_FI_DEV_FB_FREE", str(180_000 - used)),
            ("DCGM_FI_DEV_FB_RESERVED", "500"),
            ("DCGM_FI_DEV_GPU_UTIL", "75"),
            ("DCGM_FI_DEV_POWER_USAGE", "170.5"),
            ("DCGM_FI_PROF_NVLINK_TX_BYTES", "2000000"),
            ("DCGM_FI_DEV_XID_ERRORS", "0"),
        )
        for gpu in (0, 1)
    )


def node(sent: float = 4e14, state: int = 4, stamp: str = "") -> str:
    return "".join(
        f'node_infiniband_{name}{{device="mlx5_0",port="1"}} {value}{stamp}\n'
        for name, value in (
            ("port_data_transmitted_bytes_total", sent),
            ("port_data_received_bytes_total", 3e14),
            ("rate_bytes_per_second", "1e+11"),
            ("state_id", state),
            ("physical_state_id", 5),
            ("symbol_error_total", 0),
        )
    )


def queued(scale: int) -> str:
    name, labels = "vllm:request_queue_time_seconds", 'engine="0",model_name="m"'
    buckets = {"0.3": 5, "0.5": 10, "+Inf": 10}
    return (
        "".join(f'{name}_bucket{{{labels},le="{edge}"}} {count * scale}.0\n' for edge, count in buckets.items())
        + f"{name}_count{{{labels}}} {10 * scale}.0\n{name}_sum{{{labels}}} {2.5 * scale}\n"
    )


def network(device: str, sent: int, speed: int = 12_500_000_000) -> str:
    return (
        f'node_network_transmit_bytes_total{{device="{device}"}} {sent}\n'
        f'node_network_receive_bytes_total{{device="{device}"}} {2 * sent}\n'
        f'node_network_speed_bytes{{device="{device}"}} {speed}\n'
        f'node_network_transmit_drop_total{{device="{device}"}} 0\n'
    )
