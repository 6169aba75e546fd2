"""The arguments that engines and load generators really have, re-typed by name, with where each list was read.

Only names are kept, and of long lists those of the sections that a matrix may need. A command that uses a name which is
not here fails a test; a name that a tool drops shows when the list is read anew.
"""

VLLM_SERVE = frozenset(
    {
        # ModelConfig and CacheConfig
        *("--revision", "--code-revision", "--tokenizer-revision", "--max-model-len", "--quantization", "--hf-token"),
        *("--enforce-eager", "--served-model-name", "--block-size", "--gpu-memory-utilization", "--kv-cache-dtype"),
        # a switch of two names: --enable-prefix-caching, --no-enable-prefix-caching
        *("--enable-prefix-caching", "--no-enable-prefix-caching", "--num-gpu-blocks-override"),
        # SchedulerConfig
        *("--max-num-seqs", "--max-num-batched-tokens", "--scheduling-policy", "--enable-chunked-prefill"),
        *("--no-enable-chunked-prefill",),
        # ParallelConfig
        *("--distributed-executor-backend", "--pipeline-parallel-size", "--master-addr", "--master-port", "--nnodes"),
        *("--node-rank", "--tensor-parallel-size", "--decode-context-parallel-size", "--data-parallel-size"),
        *("--prefill-context-parallel-size", "--data-parallel-rank", "--data-parallel-start-rank"),
        *("--data-parallel-size-local", "--data-parallel-address", "--data-parallel-rpc-port"),
        *("--data-parallel-backend", "--enable-expert-parallel", "--enable-eplb", "--all2all-backend"),
        *("--eplb-config", "--kv-transfer-config"),
        # the server
        *("--headless", "--host", "--port", "--api-key"),
    }
)
"""vLLM: ``add_cli_args`` of ``vllm/engine/arg_utils.py``, read whole from 0.17 to 0.18 (with ``--shutdown-timeout``,
not yet with ``--gdn-prefill-backend``); its switches have a ``--no-`` form each. Those of the server are of the pages
``cli/serve`` of 0.12 and 0.18."""

VLLM_ENVIRONMENT = frozenset({"VLLM_PP_LAYER_PARTITION", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"})
"""vLLM: ``vllm/envs.py``; the others are CUDA's."""

VLLM_BENCH_SERVE = frozenset(
    {
        *("--label", "--backend", "--base-url", "--host", "--port", "--endpoint", "--header", "--max-concurrency"),
        *("--model", "--input-len", "--output-len", "--tokenizer", "--tokenizer-mode", "--use-beam-search"),
        *("--logprobs", "--request-rate", "--burstiness", "--probe-request-rate", "--disable-tqdm", "--num-warmups"),
        *("--profile", "--save-result", "--save-detailed", "--append-result", "--metadata", "--result-dir"),
        *("--result-filename", "--ignore-eos", "--self-timed", "--percentile-metrics", "--metric-percentiles"),
        *("--goodput", "--request-id-prefix", "--top-p", "--top-k", "--min-p", "--temperature"),
        # of the data sets
        *("--seed", "--num-prompts", "--dataset-name", "--dataset-path", "--no-stream", "--no-oversample"),
        *("--disable-shuffle", "--random-input-len", "--random-output-len", "--random-range-ratio"),
        *("--prefix-repetition-prefix-len", "--prefix-repetition-suffix-len"),
        *("--prefix-repetition-num-prefixes", "--prefix-repetition-output-len"),
    }
)
"""vLLM: ``vllm/benchmarks/serve.py`` at 009e6d4a, and the data sets of the ``vllm bench serve`` page of its guide."""

VLLM_DATASETS = frozenset({"sharegpt", "burstgpt", "sonnet", "random", "hf", "custom", "prefix_repetition"})

SGLANG_SERVER = frozenset(
    {
        *("--model-path", "--tokenizer-path", "--revision", "--context-length", "--host", "--port", "--dtype"),
        *("--quantization", "--kv-cache-dtype", "--mem-fraction-static", "--page-size", "--disable-radix-cache"),
        *("--tp-size", "--pp-size", "--ep-size", "--dp-size", "--attn-cp-size", "--moe-dp-size", "--dcp-size"),
        *("--attn-dp-size", "--enable-dp-attention", "--enable-prefill-cp", "--cp-strategy", "--base-gpu-id"),
        *("--gpu-id-step", "--dist-init-addr", "--nnodes", "--node-rank", "--enable-metrics"),
        *("--max-running-requests", "--max-total-tokens", "--max-prefill-tokens", "--chunked-prefill-size"),
        *("--schedule-policy",),
        *("--ep-num-redundant-experts", "--disaggregation-mode", "--disaggregation-transfer-backend"),
    }
)
"""SGLang: ``docs/advanced_features/server_arguments.md`` at 004813e1, and its parser's own tests of 0.5.20 to 0.5.23
for the degrees of attention data and context parallelism; the last three of ``pd_disaggregation.md`` and the list. The
policies are those of that list which ``managers/schedule_policy.py`` of 0.5.x has; ``priority`` it does not have."""

SGLANG_ENVIRONMENT = frozenset({"SGLANG_PP_LAYER_PARTITION", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"})
"""SGLang: ``distributed/utils.py``; the others are CUDA's."""

SGLANG_BENCH = frozenset(
    {
        *("--backend", "--base-url", "--host", "--port", "--model", "--tokenizer", "--dataset-name", "--dataset-path"),
        *("--num-prompts", "--random-input-len", "--random-output-len", "--random-range-ratio", "--request-rate"),
        *("--max-concurrency", "--seed", "--output-file", "--output-details", "--disable-stream"),
        *("--extra-request-body", "--disable-ignore-eos", "--warmup-requests", "--flush-cache", "--profile"),
        *("--gsp-num-groups", "--gsp-prompts-per-group", "--gsp-system-prompt-len", "--gsp-question-len"),
        *("--gsp-output-len", "--apply-chat-template", "--tokenize-prompt"),
    }
)
"""SGLang: ``docs/developer_guide/bench_serving.md`` at 0229689b."""

SGLANG_DATASETS = frozenset({"sharegpt", "random", "random-ids", "image", "generated-shared-prefix", "mmmu"})

TRTLLM_SERVE = frozenset(
    {
        *("--tokenizer", "--host", "--port", "--backend", "--max_beam_width", "--max_batch_size", "--max_num_tokens"),
        *("--max_seq_len", "--tensor_parallel_size", "--tp_size", "--pipeline_parallel_size", "--pp_size"),
        *("--context_parallel_size", "--cp_size", "--moe_expert_parallel_size", "--ep_size", "--gpus_per_node"),
        *("--moe_cluster_parallel_size", "--cluster_size", "--free_gpu_memory_fraction", "--trust_remote_code"),
        *("--revision", "--config", "--extra_llm_api_options", "--enable_chunked_prefill"),
    }
)
"""TensorRT-LLM: the options of ``serve`` in ``tensorrt_llm/commands/serve.py`` at 00209af1, read whole."""

TRTLLM_SETTINGS = frozenset(
    {
        *("enable_attention_dp", "enable_lm_head_tp_in_adp", "moe_tensor_parallel_size", "cp_config"),
        *("orchestrator_type", "kv_cache_config", "cache_transceiver_config"),
    }
)
"""TensorRT-LLM: fields of ``LlmArgs`` that ``--config`` takes, as its guides to parallelism and hand-off show them."""

MPIRUN = frozenset({"-n", "--host", "-x"})
"""Open MPI 4 and 5."""

GUIDELLM = frozenset(
    {
        *("--backend", "--data", "--profile", "--constraint", "--seed", "--data-loader", "--output", "--tokenizer"),
        *("--config", "--override", "--label", "--data-preprocessor", "--data-column-mapper", "--disable-console"),
    }
)
"""GuideLLM 0.7: ``docs/en/getting-started/benchmark.md`` at 1db9852a (``guidellm run``)."""

GUIDELLM_KEYS = {
    "--backend": {"kind", "target", "model"},
    "--data": {
        *("kind", "path", "prompt_tokens", "prompt_tokens_stdev", "prompt_tokens_min", "prompt_tokens_max"),
        *("output_tokens", "output_tokens_stdev", "prefix_tokens", "prefix_count", "samples"),
    },
    "--profile": {"kind", "streams", "rate", "max_concurrency", "rampup_duration"},
    "--constraint": {"kind", "seconds", "count", "rate", "window"},
    "--seed": {"kind", "value"},
    "--output": {"kind", "path"},
}
"""GuideLLM 0.7: keys of those options, from the same page and ``docs/en/guides/datasets.md`` at 0016f762."""

GUIDELLM_KINDS = {
    "--backend": {"openai_http"},
    "--data": {"synthetic_text", "huggingface", "json_file", "csv_file", "text_file"},
    "--profile": {"synchronous", "throughput", "concurrent", "constant", "poisson", "sweep"},
    "--constraint": {"max_duration", "max_requests", "min_requests", "max_errors", "max_error_rate"},
    "--seed": {"static"},
    "--output": {"json", "csv", "html", "console"},
}

AIPERF = frozenset(
    {
        *("--model", "--url", "--endpoint-type", "--streaming", "--tokenizer", "--tokenizer-revision", "--api-key"),
        *("--extra-inputs", "--input-file", "--custom-dataset-type", "--public-dataset", "--random-seed"),
        *("--num-dataset-entries", "--num-prefix-prompts", "--prefix-prompt-length", "--reset-kv-cache"),
        *("--synthetic-input-tokens-mean", "--synthetic-input-tokens-stddev", "--output-tokens-mean"),
        *("--output-tokens-stddev", "--benchmark-duration", "--benchmark-grace-period", "--concurrency"),
        *("--request-rate", "--arrival-pattern", "--arrival-smoothness", "--request-count"),
        *("--warmup-request-count", "--artifact-dir", "--request-cancellation-rate", "--request-cancellation-delay"),
        *("--goodput", "--gpu-telemetry"),
    }
)
"""AIPerf 0.13: ``docs/cli-options.md`` at 003fc0f1 (``aiperf profile``)."""
