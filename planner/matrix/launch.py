"""How an engine is started with the degrees of a candidate: one command for every node.

Rules kept: arguments are those of the engines' own lists (``tests/planner/matrix/arguments.py`` has them with their
sources); what a contract states and no argument expresses is said. Devices are named by number where they are not the
first ones of their node. Nothing is guessed: an engine without a known command has none.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.layouts import Degrees
from planner.matrix.caches import FP8, prefix_cache_off
from planner.matrix.trtllm_settings import setting_line, trtllm_settings
from planner.matrix.words import CONFIG, HEAD, HOSTS, Variable, Word, command
from planner.natural_order import natural
from planner.records.base import UnsetType, stated
from planner.records.contract import Contract
from planner.records.evidence import LayoutName
from planner.records.matrix import Launched, Seats

__all__ = ["IN_FILE", "Words", "engine_words", "launched", "read_as_option"]

VLLM_PORT = 29501
VLLM_RPC_PORT = 13345
SGLANG_PORT = 20000
IN_FILE = "Goes into the YAML file of --config: "
"""Begins what is unsaid because a file says it."""

Words = list[Word]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """What is started where: ``numbers`` has the device numbers of each node, None where they are 0, 1, 2, ...

    ``head`` stands for the address of the first node; ``instance`` keeps the ports of several engines apart.
    """

    contract: Contract
    degrees: Degrees
    world: int
    seats: tuple[Seats, ...]
    numbers: tuple[tuple[int, ...] | None, ...]
    head: Variable = HEAD
    instance: int = 0


def launched(contract: Contract, layout: LayoutName, degrees: Degrees, world: int, seats: Sequence[Seats]) -> Launched:
    """Return the commands that start a candidate."""
    start = _Start(
        contract=contract,
        degrees=degrees,
        world=world,
        seats=tuple(seats),
        numbers=tuple(_numbers(contract, seat) for seat in seats),
    )
    maker = _ENGINES.get(layout)
    if maker is None:
        return Launched(commands=(), unsaid=("No command is known that starts this engine.",))
    refused = read_as_option(contract)
    if refused is not None:
        return Launched(commands=(), unsaid=(refused,))
    commands, unsaid = maker(start)
    return Launched(
        commands=tuple(command(words, node=node) for node, words in commands),
        unsaid=tuple(dict.fromkeys((*unsaid, *_settings(contract), *_left(contract)))),
    )


def read_as_option(contract: Contract) -> str | None:
    """Say which name of the model an engine would read as an option of its own; None where it reads names."""
    model = contract.identity.model
    named = {"name": model.name, "revision": model.revision, "tokenizer_revision": stated(model.tokenizer_revision)}
    at = next((name for name, text in named.items() if text and text.startswith("-")), None)
    return at and f"model.{at} begins with a hyphen: engines would read it as an option, so nothing is started."


def engine_words(
    contract: Contract,
    layout: LayoutName,
    degrees: Degrees,
    world: int,
    seats: Sequence[Seats],
    *,
    head: Variable = HEAD,
    instance: int = 0,
) -> tuple[list[tuple[str | None, Words]], list[str]] | None:
    """Return the words that start an engine on every node, devices not named, and what no argument expresses.

    Engines of one topology are kept apart by their number. Settings of the scheduler and flags are no part of this
    (``planner.launch.settings``). None where no command is known.
    """
    maker = _ENGINES.get(layout)
    if maker is None:
        return None
    start = _Start(
        contract=contract,
        degrees=degrees,
        world=world,
        seats=tuple(seats),
        numbers=(None,) * len(seats),
        head=head,
        instance=instance,
    )
    commands, unsaid = maker(start)
    return commands, [*unsaid, *_left(contract)]


def _numbers(contract: Contract, seat: Seats) -> tuple[int, ...] | None:
    """Return the numbers of a node's devices, in the order in which ranks take them; None for the first ones."""
    devices = contract.identity.hardware.devices
    names = sorted((name for name, device in devices.items() if device.node == seat.node), key=natural)
    numbers = tuple(names.index(name) for name in seat.devices)
    return None if numbers == tuple(range(len(numbers))) else numbers


def _settings(contract: Contract) -> Iterator[str]:
    """Yield settings of the stack, which the command of a candidate leaves to who measures it."""
    stack = contract.identity.stack
    for name in ("scheduler", "flags"):
        settings = stated(getattr(stack, name))
        if settings:
            listed = ", ".join(f"{key} {value}" for key, value in sorted(settings.items()))
            yield f"stack.{name} has to be set in the engine's own words: {listed}."


def _left(contract: Contract) -> Iterator[str]:
    """Yield what else the contract states, and no argument here carries."""
    workload = contract.identity.workload
    if not isinstance(workload.speculation, UnsetType) and workload.speculation != "none":
        yield "workload.speculation has to be set in the engine's own words."
    if contract.identity.precision.kv_cache.lower() not in FP8:
        yield f"The KV cache's format, {contract.identity.precision.kv_cache}, is left to the engine."


def _visible(numbers: tuple[int, ...] | None) -> Words:
    return [] if numbers is None else ["env", f"CUDA_VISIBLE_DEVICES={','.join(map(str, numbers))}"]


def _kv_cache(contract: Contract) -> Words:
    name = contract.identity.precision.kv_cache.lower()
    return ["--kv-cache-dtype", name] if name in FP8 else []


def _block(contract: Contract, argument: str) -> Words:
    kv = stated(contract.identity.stack.kv) or {}
    tokens = kv.get("block_tokens")
    return [argument, str(tokens)] if isinstance(tokens, int) and not isinstance(tokens, bool) else []


def _sized(*degrees: tuple[str, int]) -> Words:
    """Return the arguments of degrees above 1."""
    return [word for argument, value in degrees if value > 1 for word in (argument, str(value))]


Started = tuple[list[tuple[str | None, Words]], list[str]]


def _vllm(start: _Start) -> Started:
    contract, degrees, nodes = start.contract, start.degrees, len(start.seats)
    model, context = contract.identity.model, stated(contract.identity.workload.context_tokens)
    words: Words = ["vllm", "serve", model.name, "--revision", model.revision]
    if not isinstance(model.tokenizer_revision, UnsetType):
        words += ["--tokenizer-revision", model.tokenizer_revision]
    words += ["--tensor-parallel-size", str(degrees.tp)]
    words += _sized(
        ("--pipeline-parallel-size", degrees.pp),
        ("--data-parallel-size", degrees.dp),
        ("--prefill-context-parallel-size", degrees.cp),
        ("--decode-context-parallel-size", degrees.dcp),
    )
    words += ["--enable-expert-parallel"] if degrees.ep > 1 else []
    words += ["--max-model-len", str(context)] if context else []
    words += _kv_cache(contract) + _block(contract, "--block-size")
    if prefix_cache_off(contract) is not None:
        words.append("--no-enable-prefix-caching" if prefix_cache_off(contract) else "--enable-prefix-caching")
    replica = degrees.tp * degrees.pp * degrees.cp
    local = start.world // nodes // replica
    made: list[tuple[str | None, Words]] = []
    for at, (seat, numbers) in enumerate(zip(start.seats, start.numbers, strict=True)):
        more: Words = []
        if nodes > 1 and local:
            more = ["--data-parallel-size-local", str(local), "--data-parallel-address", start.head]
            more += ["--data-parallel-rpc-port", str(VLLM_RPC_PORT + start.instance)]
            more += ["--headless", "--data-parallel-start-rank", str(at * local)] if at else []
        elif nodes > 1:
            more = ["--nnodes", str(nodes), "--node-rank", str(at), "--master-addr", start.head]
            more += ["--master-port", str(VLLM_PORT + start.instance)]
            more += ["--headless"] if at else []
        made.append((seat.node, [*_visible(numbers), *words, *more]))
    return made, []


def _sglang(start: _Start) -> Started:
    contract, degrees, nodes = start.contract, start.degrees, len(start.seats)
    model, context = contract.identity.model, stated(contract.identity.workload.context_tokens)
    attention_data = degrees.extra.get("attn_dp", 1)
    words: Words = ["python3", "-m", "sglang.launch_server", "--model-path", model.name, "--revision", model.revision]
    words += ["--tp-size", str(degrees.tp)]
    words += _sized(
        ("--pp-size", degrees.pp),
        ("--ep-size", degrees.ep),
        ("--dp-size", degrees.dp),
        ("--attn-dp-size", attention_data if isinstance(attention_data, int) else 1),
        ("--attn-cp-size", degrees.cp),
        ("--dcp-size", degrees.dcp),
    )
    words += ["--context-length", str(context)] if context else []
    words += _kv_cache(contract) + _block(contract, "--page-size")
    words += ["--disable-radix-cache"] if prefix_cache_off(contract) else []
    unsaid = []
    if "attn_dp" in degrees.extra:
        unsaid.append("SGLang before --attn-dp-size takes --dp-size with --enable-dp-attention for the same groups.")
    if degrees.cp > 1:
        unsaid.append("Attention context parallelism also needs --enable-prefill-cp and a --cp-strategy for the model.")
    made: list[tuple[str | None, Words]] = []
    for at, (seat, numbers) in enumerate(zip(start.seats, start.numbers, strict=True)):
        more: Words = []
        if nodes > 1:
            # Engines on one head node take ten ports from here on.
            port = SGLANG_PORT + 10 * start.instance
            more = ["--nnodes", str(nodes), "--node-rank", str(at), "--dist-init-addr", (start.head, f":{port}")]
        made.append((seat.node, [*_visible(numbers), *words, *more]))
    return made, unsaid


def _trtllm(start: _Start) -> Started:
    contract, degrees = start.contract, start.degrees
    model, context = contract.identity.model, stated(contract.identity.workload.context_tokens)
    words: Words = ["trtllm-serve", model.name, "--revision", model.revision, "--tp_size", str(degrees.tp)]
    words += _sized(("--pp_size", degrees.pp), ("--ep_size", degrees.ep), ("--cp_size", degrees.cp))
    words += ["--max_seq_len", str(context)] if context else []
    in_file = trtllm_settings(contract, degrees)
    words += ["--config", CONFIG] if in_file else []
    unsaid = [f"{IN_FILE}{setting_line(name, value)}." for name, value in in_file.items()]
    if len(start.seats) == 1:
        seat = start.seats[0]
        return [(seat.node, [*_visible(start.numbers[0]), *words])], unsaid
    per_node = max(len(seat.ranks) for seat in start.seats)
    mpi: Words = ["mpirun", "-n", str(start.world), "--host", HOSTS, "trtllm-llmapi-launch"]
    if any(numbers is not None for numbers in start.numbers):
        unsaid.append("The devices of each node have to be chosen in its own environment (CUDA_VISIBLE_DEVICES).")
    return [(None, [*mpi, *words, "--gpus_per_node", str(per_node)])], unsaid


_ENGINES: Mapping[LayoutName, Callable[[_Start], Started]] = {"vllm": _vllm, "sglang": _sglang, "trtllm": _trtllm}
