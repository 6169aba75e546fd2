"""Print how long it takes to decide among 1,000, 10,000 and 100,000 trials that are held as records.

Measured is everything that a decision rests on: the outcome, reading, limit and margin of every gate for every trial,
the values of the selection keys, the order, and the frontier. Sentences are left unwritten, as nobody has asked for
one yet; nothing is read from bytes and no plan is written. ``python -m bench.bytes_to_plan`` measures those. The best
of several runs counts, in seconds of the processor.

``python -m bench.many_trials [--trials 1000 10000 100000]``
"""

import argparse
import hashlib
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import chain
from operator import attrgetter

import msgspec
from msgspec.structs import astuple

from bench.big_evidence import CONTEXT_TOKENS, OUTPUT_TOKENS, REQUESTS, TPOT_MS, big_contract, big_evidence
from bench.measure import best_seconds
from planner.alike import Member, Verdicts, weigh_all
from planner.alike.form import AT_ONCE
from planner.collection import paused_collection, rare_collection
from planner.documents import ContractDocument, EvidenceDocument
from planner.evaluate import Verdict, weigh
from planner.frontier import frontier, frontier_point
from planner.intake import read_contract, read_evidence
from planner.keys import key_spread
from planner.order import order_expand
from planner.records.evidence import (
    Instance,
    Load,
    PerRank,
    Placement,
    Replica,
    Requests,
    Statistics,
    Topology,
    Trial,
    Window,
)
from planner.records.plan import FrontierPoint
from planner.selection import Selection, select
from planner.view import view_maker, views

YARDSTICK = 1_000
"""Trials that are judged the plain way too."""
AS_OF = "2026-10-01T00:00:00Z"
PEAK = "device_used_peak_bytes"
RECORDS_OF_A_LOAD = ("requests", "ttft_ms", "tpot_ms", "e2e_ms")
RANKS = 16
SHAPES = tuple((tp, pp, RANKS // (tp * pp)) for tp in (1, 2, 4, 8) for pp in (1, 2))
"""(tp, pp, dp) of 16 ranks on two nodes."""
REPLICAS = tuple(f"r-{group:02d}" for group in range(RANKS))
"""Names that all trials share, as those do that are decoded from bytes."""

Decided = tuple[Verdicts, Selection, set[str]]


@paused_collection()
def decide(contract: ContractDocument, evidence: EvidenceDocument) -> Decided:
    """Judge every trial, order the eligible ones, and find those that nothing beats."""
    order = order_expand(contract.record)
    view_of = view_maker(contract, evidence, AS_OF)
    names, trials, ids = sorted(evidence.record.trials), evidence.record.trials, evidence.trial_content_ids
    members = map(Member, names, map(trials.__getitem__, names), map(ids.__getitem__, names))
    weighed = weigh_all(members, order, view_of)
    selection = select(
        weighed.verdicts,
        order,
        spread_of=lambda trial: key_spread(view_of(trial), order.keys[0]),
        units_of=lambda trial: 1,
    )
    return weighed, selection, weighed.unbeaten()


def read_once(evidence: EvidenceDocument) -> None:
    """Take every figure of every trial as columns and do nothing with it: what deciding cannot do without."""
    every = [window for trial in evidence.record.trials.values() for window in trial.windows.values()]
    for start in range(0, len(every), AT_ONCE):
        windows = every[start : start + AT_ONCE]
        loads = list(map(attrgetter("load"), windows))
        replicas = chain.from_iterable(map(dict.values, map(attrgetter("replicas"), windows)))
        for records in (windows, loads, *(map(attrgetter(name), loads) for name in RECORDS_OF_A_LOAD), replicas):
            list(zip(*map(astuple, records), strict=True))
        for metrics in map(attrgetter("per_rank"), windows):
            max(metrics[PEAK].values)


def decide_plainly(contract: ContractDocument, evidence: EvidenceDocument) -> tuple[Selection, set[str]]:
    """Decide the same with every gate asked for every trial: the yardstick."""
    order = order_expand(contract.record)
    verdicts: dict[str, Verdict] = {}
    points: list[FrontierPoint] = []
    trials = views(contract, evidence, AS_OF)
    for trial, view in trials.items():
        verdicts[trial] = weigh(view, order.keys)
        points.append(frontier_point(view, verdicts[trial], order))
        view.forget()
    selection = select(
        verdicts, order, spread_of=lambda trial: key_spread(trials[trial], order.keys[0]), units_of=lambda trial: 1
    )
    return selection, {point.trial for point in frontier(points) if point.non_dominated}


def documents(trials: int) -> tuple[ContractDocument, EvidenceDocument]:
    """Return a contract with seven limits and as many trials as records; every trial has other figures."""
    contract = read_contract(big_contract())
    read = read_evidence(big_evidence(1), contract)
    topologies = [_topology(*shape) for shape in SHAPES]
    rank_maps = [_rank_map(turn) for turn in range(2)]
    made = {
        f"t-{index:06d}": Trial(
            topology=topologies[index % len(SHAPES)],
            rank_map=rank_maps[index % 3 == 0],
            identity_id="lab",
            windows={"w-1": _window(index, groups=SHAPES[index % len(SHAPES)][2])},
        )
        for index in range(trials)
    }
    ids = {trial: f"sha256:{hashlib.sha256(trial.encode()).hexdigest()}" for trial in made}
    record = msgspec.structs.replace(read.record, trials=made)
    return contract, EvidenceDocument(record, read.content_id, read.file_sha256, ids)


def _topology(tp: int, pp: int, dp: int) -> Topology:
    return Topology(layout="closed", instances=(Instance(tp=tp, pp=pp, ep=1, dp=dp, world_size=RANKS),))


def _rank_map(turn: int) -> tuple[Placement, ...]:
    """Two whole nodes, or their devices in turn."""
    slots = [(rank // 2 + 8 * (rank % 2)) if turn else rank for rank in range(RANKS)]
    return tuple(
        Placement(rank=rank, node=f"node-{slot // 8}", device=f"n{slot // 8}-d{slot % 8}", nic=f"nic-{slot // 2}")
        for rank, slot in enumerate(slots)
    )


def _window(index: int, *, groups: int) -> Window:
    completed = REQUESTS - 1_280 * (index % 3 == 0) + index % 1_009
    share = completed // groups
    counts = [share] * (groups - 1) + [completed - share * (groups - 1)]
    size = RANKS // groups
    return Window(
        purpose="counted",
        load_point="saturated",
        start="2026-09-20T10:00:00Z",
        end="2026-09-20T10:10:00Z",
        load=_load(index, completed),
        per_rank={PEAK: PerRank(scope="rank", values=tuple([_peak(index, rank) for rank in range(RANKS)]))},
        replicas={
            name: Replica(
                ranks=tuple(range(group * size, (group + 1) * size)),
                completed=count,
                output_tokens_total=count * OUTPUT_TOKENS,
                longest_sequence_tokens=CONTEXT_TOKENS,
            )
            for group, (name, count) in enumerate(zip(REPLICAS, counts, strict=False))
        },
    )


def _peak(index: int, rank: int) -> int:
    return 64_000_000_000 + (index * 7_919 + rank * 104_729) % 1_000_003 * 2**10 + index % 50 * 300_000_000


def _load(index: int, completed: int) -> Load:
    ttft = 200 + index % 997 / 8
    return Load(
        duration_s=600,
        requests=Requests(sent=completed, completed=completed, failed=0, cut_off=0),
        output_tokens_total=completed * OUTPUT_TOKENS,
        output_tokens_mean=OUTPUT_TOKENS,
        longest_sequence_tokens=CONTEXT_TOKENS,
        ttft_ms=Statistics(n=completed, mean=ttft + 0.125, p50=ttft, p95=ttft * 2, p99=ttft * 4, max=ttft * 6),
        tpot_ms=Statistics(n=completed, mean=TPOT_MS),
        e2e_ms=Statistics(n=completed, mean=ttft + 0.125 + TPOT_MS * (OUTPUT_TOKENS - 1)),
    )


def report(numbers: Sequence[int], runs: int) -> None:
    """Print the yardstick and a line for every number of trials."""
    contract, evidence = documents(YARDSTICK)
    seconds, plainly = best_seconds(lambda: decide_plainly(contract, evidence), runs)
    plain = seconds / YARDSTICK
    print(f"every gate asked for every one of {YARDSTICK:,} trials: {plain * 1e6:.0f} us/trial, the yardstick")
    print(f"{'trials':>8}{'seconds':>10}{'us/trial':>10}{'of yardstick':>14}{'read once':>11}{'growth':>8}  outcome")
    before: float | None = None
    for trials in numbers:
        contract, evidence = documents(trials)
        seconds, (weighed, selection, best) = best_seconds(partial(decide, contract, evidence), runs)
        if trials == YARDSTICK and (selection, best) != plainly:
            raise SystemExit("the two ways do not agree")
        reading, _ = best_seconds(partial(read_once, evidence), runs)
        states = Counter(verdict.state for verdict in weighed.verdicts.values())
        growth, each = "-" if before is None else f"{seconds / before:.1f}x", seconds / trials
        print(
            f"{trials:>8,}{seconds:>10.3f}{each * 1e6:>10.0f}{each / plain:>13.2f}x{reading:>11.3f}{growth:>8}"
            f"  {selection.decision}, {states['ELIGIBLE']:,} eligible, {len(best)} best",
            flush=True,
        )
        before = seconds


def main() -> None:
    """Read the options and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with rare_collection():
        report(options.trials, options.runs)


if __name__ == "__main__":
    main()
