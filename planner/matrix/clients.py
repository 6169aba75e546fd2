"""The load generators: one load as the command of each, and what it cannot express.

Rules kept: arguments are those of the clients' own lists (``tests/planner/matrix/arguments.py``); lengths, arrival and
percentiles are the contract's; the seed is the number of the window. Requests come from the contract's own file where
it names one by digest, else they are synthetic, and what synthetic lengths lose is said. A length that the contract
does not state is left to be filled in.

Not handled: sampling beyond temperature and ``ignore_eos``; adapters; prompts of several turns.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from planner.matrix.words import DATASET, OUT, OUTPUT_TOKENS, PROMPT_TOKENS, REPEAT, TARGET, Variable, Word, command
from planner.numbers import exact, nearest_double
from planner.records.base import UnsetType, stated
from planner.records.contract import Contract, Lengths, LoadPoint
from planner.records.evidence import LayoutName
from planner.records.matrix import CacheState, Command

__all__ = ["CLIENTS", "Load", "client_of", "commands_of", "number_text"]

PREFIXES = 10
"""Shared prefixes of synthetic prompts in a warm cache; each is answered from the cache after its first request."""

Words = list[Word]


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """One load: so many requests at a load point; ``hits`` is the share of prompt tokens that a warm cache answers.

    ``min_s`` is how long a window has to last. ``tails`` are the percentiles that limits read.
    """

    contract: Contract
    layout: LayoutName
    point: LoadPoint
    cache: CacheState
    hits: Fraction | None
    requests: int
    warmup_requests: int
    min_s: Fraction | None
    tails: tuple[str, ...]

    @property
    def model(self) -> str:
        """The model's name."""
        return self.contract.identity.model.name

    @property
    def from_file(self) -> bool:
        """Say whether the contract names its requests by digest."""
        return not isinstance(self.contract.identity.workload.dataset_digest, UnsetType)

    @property
    def prompt(self) -> Lengths | None:
        """Lengths of prompts."""
        return stated(self.contract.identity.workload.prompt_tokens)

    @property
    def output(self) -> Lengths | None:
        """Lengths of outputs."""
        return stated(self.contract.identity.workload.output_tokens)

    @property
    def fixed_output(self) -> bool:
        """Say whether every output has the same length, so that an end of text must not cut it."""
        fixed = self.output is not None and not isinstance(self.output.fixed, UnsetType)
        return fixed or bool(self._sampling.get("ignore_eos"))

    @property
    def temperature(self) -> str | None:
        """The temperature as an argument."""
        value = self._sampling.get("temperature")
        return number_text(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    @property
    def _sampling(self) -> Mapping[str, object]:
        return stated(self.contract.identity.workload.sampling) or {}

    @property
    def prefix(self) -> tuple[int, int] | None:
        """Shared and own tokens of a prompt that meets the expected hits; None where that cannot be reckoned."""
        whole = _whole(self.prompt)
        if self.cache != "warm" or self.hits is None or whole is None or self.from_file:
            return None
        shared = int(whole * self.hits)
        return (shared, whole - shared) if 0 < shared < whole else None


def _whole(lengths: Lengths | None) -> int | None:
    """Return the fixed or mean length, in whole tokens."""
    if lengths is None:
        return None
    for value in (lengths.fixed, lengths.mean):
        if not isinstance(value, UnsetType):
            return max(1, round(exact(value)))
    return None


def _tokens(lengths: Lengths | None, otherwise: Variable) -> str | Variable:
    whole = _whole(lengths)
    return otherwise if whole is None else str(whole)


def number_text(value: int | float | Fraction) -> str:
    """Write a number as an argument: without an exponent, a whole one without decimals."""
    fraction = exact(value)
    if fraction.denominator == 1:
        return str(fraction.numerator)
    return format(Decimal(repr(nearest_double(fraction))), "f")


def _lost(load: Load) -> Iterator[str]:
    """Yield what no synthetic request carries of the contract's."""
    if load.from_file:
        return
    for name, lengths in (("prompt", load.prompt), ("output", load.output)):
        spread = [] if lengths is None else [each for each in ("p50", "p95", "max") if _has(lengths, each)]
        if lengths is None or _whole(lengths) is None:
            yield f"The contract states no {name} length to ask for: it has to be filled in."
        elif spread:
            yield f"Synthetic {name}s are all of the mean length; {', '.join(spread)} of the contract are not met."


def _has(lengths: Lengths, name: str) -> bool:
    return not isinstance(getattr(lengths, name), UnsetType)


def _timed(load: Load, client: str) -> Iterator[str]:
    if load.min_s is not None:
        yield (
            f"{client} stops after a number of requests, not after a time: where a window ends before "
            f"{number_text(load.min_s)} s, raise the number."
        )


Made = tuple[Words, list[str]]


def _vllm_bench(load: Load) -> Made:
    words: Words = ["vllm", "bench", "serve", "--backend", "openai", "--base-url", TARGET]
    words += ["--endpoint", "/v1/completions", "--model", load.model]
    if load.from_file:
        words += ["--dataset-name", "custom", "--dataset-path", DATASET]
    elif load.prefix is not None:
        words += ["--dataset-name", "prefix_repetition", "--prefix-repetition-prefix-len", str(load.prefix[0])]
        words += ["--prefix-repetition-suffix-len", str(load.prefix[1])]
        words += ["--prefix-repetition-num-prefixes", str(PREFIXES)]
        words += ["--prefix-repetition-output-len", _tokens(load.output, OUTPUT_TOKENS)]
    else:
        words += ["--dataset-name", "random", "--random-input-len", _tokens(load.prompt, PROMPT_TOKENS)]
        words += ["--random-output-len", _tokens(load.output, OUTPUT_TOKENS), "--random-range-ratio", "0"]
    words += ["--num-prompts", str(load.requests), "--num-warmups", str(load.warmup_requests)]
    if load.point.arrival == "closed":
        words += ["--request-rate", "inf", "--max-concurrency", str(stated(load.point.concurrent_requests) or 1)]
    else:
        words += ["--request-rate", number_text(stated(load.point.requests_per_s) or 0)]
        burstiness = stated(load.point.burstiness)
        words += [] if burstiness is None else ["--burstiness", number_text(burstiness)]
    words += ["--ignore-eos"] if load.fixed_output else []
    words += [] if load.temperature is None else ["--temperature", load.temperature]
    words += ["--seed", REPEAT, "--percentile-metrics", "ttft,tpot,itl,e2el"]
    words += ["--metric-percentiles", ",".join(sorted({"50", "90", "95", "99", *load.tails}, key=float))]
    words += ["--save-result", "--result-dir", OUT, "--result-filename", ("window-", REPEAT, ".json")]
    return words, list(_timed(load, "vllm bench serve"))


def _sglang_bench(load: Load) -> Made:
    native = load.layout == "sglang"
    words: Words = ["python3", "-m", "sglang.bench_serving", "--backend", "sglang" if native else "vllm"]
    words += ["--base-url", TARGET, "--model", load.model]
    unsaid = ["Requests that were sent or failed are not in its file; of TTFT, TPOT and E2E it reports p99 only."]
    if load.from_file:
        words += ["--dataset-name", "sharegpt", "--dataset-path", DATASET]
        unsaid.append("A file of one's own has to be in the form of ShareGPT.")
    elif load.prefix is not None:
        each = -(-load.requests // PREFIXES)
        words += ["--dataset-name", "generated-shared-prefix", "--gsp-num-groups", str(PREFIXES)]
        words += ["--gsp-prompts-per-group", str(each), "--gsp-system-prompt-len", str(load.prefix[0])]
        words += ["--gsp-question-len", str(load.prefix[1])]
        words += ["--gsp-output-len", _tokens(load.output, OUTPUT_TOKENS)]
    else:
        # A ratio of 1 is the fixed length here; 0 would draw lengths from 1 on.
        words += ["--dataset-name", "random", "--random-input-len", _tokens(load.prompt, PROMPT_TOKENS)]
        words += ["--random-output-len", _tokens(load.output, OUTPUT_TOKENS), "--random-range-ratio", "1"]
    words += ["--num-prompts", str(load.requests), "--warmup-requests", str(load.warmup_requests)]
    if load.point.arrival == "closed":
        words += ["--request-rate", "inf", "--max-concurrency", str(stated(load.point.concurrent_requests) or 1)]
    else:
        words += ["--request-rate", number_text(stated(load.point.requests_per_s) or 0)]
        if stated(load.point.burstiness) not in (None, 1):
            unsaid.append("Arrivals are Poisson: the contract's burstiness is not met.")
    words += [] if load.fixed_output else ["--disable-ignore-eos"]
    words += ["--flush-cache"] if load.cache == "cold" and native else []
    words += ["--seed", REPEAT, "--output-file", (OUT, "/window-", REPEAT, ".jsonl")]
    return words, [*unsaid, *_timed(load, "sglang.bench_serving")]


def _guidellm(load: Load) -> Made:
    unsaid = ["It has no warm-up of a number of requests here: run it once before, and do not count that."]
    words: Words = ["guidellm", "run", "--backend", ("kind=openai_http,target=", TARGET, f",model={load.model}")]
    if load.from_file:
        words += ["--data", ("kind=json_file,path=", DATASET)]
    else:
        shared = load.prefix
        prompt: str | Variable = _tokens(load.prompt, PROMPT_TOKENS) if shared is None else str(shared[1])
        data: tuple[str | Variable, ...] = ("kind=synthetic_text,prompt_tokens=", prompt)
        data += (",output_tokens=", _tokens(load.output, OUTPUT_TOKENS))
        data += () if shared is None else (f",prefix_tokens={shared[0]},prefix_count={PREFIXES}",)
        words += ["--data", data]
    words += ["--profile", _guidellm_profile(load.point)]
    if load.point.arrival == "open" and stated(load.point.burstiness) not in (None, 1):
        unsaid.append("Arrivals are Poisson: the contract's burstiness is not met.")
    words += ["--constraint", f"kind=max_requests,count={load.requests}"]
    words += ["--seed", ("kind=static,value=", REPEAT)]
    words += ["--output", ("kind=json,path=", OUT, "/window-", REPEAT, ".json")]
    if any(character in load.model for character in ",="):
        unsaid.append("The model's name has a comma or an equals sign: write --backend as JSON.")
    return words, [*unsaid, *_timed(load, "guidellm run with max_requests")]


def _guidellm_profile(point: LoadPoint) -> str:
    if point.arrival == "open":
        return f"kind=poisson,rate={number_text(stated(point.requests_per_s) or 0)}"
    requests = stated(point.concurrent_requests) or 1
    return "kind=synchronous" if requests == 1 else f"kind=concurrent,streams={requests}"


def _aiperf(load: Load) -> Made:
    words: Words = ["aiperf", "profile", "--model", load.model, "--url", TARGET]
    words += ["--endpoint-type", "completions", "--streaming"]
    revision = stated(load.contract.identity.model.tokenizer_revision)
    words += [] if revision is None else ["--tokenizer-revision", revision]
    if load.from_file:
        words += ["--input-file", DATASET, "--custom-dataset-type", "single_turn"]
    else:
        shared = load.prefix
        prompt: str | Variable = _tokens(load.prompt, PROMPT_TOKENS) if shared is None else str(shared[1])
        words += ["--synthetic-input-tokens-mean", prompt, "--synthetic-input-tokens-stddev", "0"]
        words += ["--output-tokens-mean", _tokens(load.output, OUTPUT_TOKENS), "--output-tokens-stddev", "0"]
        words += ["--num-dataset-entries", str(load.requests)]
        if shared is not None:
            words += ["--num-prefix-prompts", str(PREFIXES), "--prefix-prompt-length", str(shared[0])]
    if load.point.arrival == "closed":
        words += ["--concurrency", str(stated(load.point.concurrent_requests) or 1)]
    else:
        words += ["--request-rate", number_text(stated(load.point.requests_per_s) or 0)]
        burstiness = stated(load.point.burstiness)
        if burstiness in (None, 1):
            words += ["--arrival-pattern", "poisson"]
        else:
            words += ["--arrival-pattern", "gamma", "--arrival-smoothness", number_text(burstiness or 1)]
    words += ["--warmup-request-count", str(load.warmup_requests)]
    if load.min_s is None:
        words += ["--request-count", str(load.requests)]
    else:
        words += ["--benchmark-duration", number_text(load.min_s)]
    inputs = ["ignore_eos:true"] if load.fixed_output else []
    inputs += [] if load.temperature is None else [f"temperature:{load.temperature}"]
    words += ["--extra-inputs", *inputs] if inputs else []
    words += ["--random-seed", REPEAT, "--artifact-dir", (OUT, "/window-", REPEAT)]
    return words, []


@dataclass(frozen=True, slots=True)
class Client:
    """A load generator: its name for people and how it is asked."""

    title: str
    make: Callable[[Load], Made]


CLIENTS: Mapping[str, Client] = {
    "vllm-bench-serve": Client("vllm bench serve", _vllm_bench),
    "sglang-bench-serving": Client("SGLang bench_serving", _sglang_bench),
    "guidellm": Client("GuideLLM", _guidellm),
    "aiperf": Client("AIPerf", _aiperf),
}
"""Ids are those of the importers that read the clients' files."""

_OWN: Mapping[LayoutName, str] = {"vllm": "vllm-bench-serve", "sglang": "sglang-bench-serving", "trtllm": "aiperf"}


def client_of(layout: LayoutName) -> str:
    """Return the client that comes with an engine, else one that takes any server of the OpenAI interface."""
    return _OWN.get(layout, "guidellm")


def commands_of(load: Load) -> tuple[dict[str, Command], dict[str, tuple[str, ...]]]:
    """Return the command of every client, and what each cannot express."""
    commands, unsaid = {}, {}
    for name, client in CLIENTS.items():
        words, lacking = client.make(load)
        commands[name] = command(words)
        lacking = [*lacking, *_lost(load)]
        if lacking:
            unsaid[name] = tuple(lacking)
    return commands, unsaid
