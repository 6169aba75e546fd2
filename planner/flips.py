"""What would make another trial win, and what would take the winner out: one change at a time.

Rules kept (spec 2.3, domain 6): a flip changes one reading, after aggregation, or one limit, never evidence bytes;
planning with the change gives the stated result; the value is the nearest on the passing side, and leaving takes the
next representable one. A reading that selection keys share moves them too. Not handled: contracts that allow copies
of a trial, gates whose reading follows from another one (``cost``), a limit that a reserve or a device changes.
"""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import islice
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from planner.board import Board, Effect, Spot
from planner.figures import SIGNS, beside, decimals, number, percent, readable
from planner.keys import from_rate
from planner.limit_flips import can_pass, effect_text, limit_flips
from planner.numbers import fraction_of, gap, nearest_double, plain
from planner.records.plan import Eligible, Flip

__all__ = ["flips"]

MOST_OF_AN_EFFECT = 10
"""Flips kept of each effect: the smallest changes are what a reviewer has to open."""

EFFECTS: tuple[Effect, ...] = ("OTHER_WINS", "NONE_LEFT", "SAME_WINNER")
FOLLOWS_FROM_ANOTHER = frozenset({"cost"})
Sided = Literal["<=", ">=", "<", ">"]
LATENCIES = {"ttft": "ttft_ms", "tpot": "tpot_ms", "itl": "itl_ms", "e2e": "e2e_ms"}


def flips(board: Board) -> tuple[Flip, ...]:
    """Return the flips of a plan: first those by which another trial wins, each group by smallest relative change."""
    if board.order.copies:
        return ()
    found = sorted((*_of_others(board), *_of_winner(board), *map(_written, limit_flips(board))), key=_by_size)
    return tuple(flip for effect in EFFECTS for flip in _smallest([f for f in found if f.effect == effect]))


class Draft(Struct, frozen=True, kw_only=True, gc=False):
    """A flip as far as it takes to sort it; ``write`` asks the gate and writes it, None where it does not hold."""

    effect: Effect
    gate: str
    limit_id: str
    trial: str
    old: Fraction | None
    change: Fraction | None
    write: Callable[[], Flip | None]


def _smallest(drafts: Iterable[Draft]) -> Iterator[Flip]:
    """Write flips, smallest change first, until there are as many as are kept: most need not be written at all."""
    written = (flip for draft in drafts for flip in (draft.write(),) if flip is not None)
    return islice(written, MOST_OF_AN_EFFECT)


def _written(flip: Flip) -> Draft:
    return Draft(
        effect=flip.effect,
        gate=flip.gate,
        limit_id=flip.limit_id or "",
        trial=flip.trial or "",
        old=number(flip.old),
        change=number(flip.change),
        write=lambda: flip,
    )


def _by_size(flip: Draft) -> tuple[bool, bool, float, Fraction, str, str, str]:
    """Sort by relative change; what has no size comes last, what grows from 0 before it."""
    size = Fraction(0) if flip.change is None else abs(flip.change)
    # Most have a double of their own, which is far quicker compared; exact values tell those apart that share one.
    return flip.change is None, not flip.old, nearest_double(size), size, flip.gate, flip.limit_id, flip.trial


def _of_others(board: Board) -> Iterator[Draft]:
    for trial, spot in board.kept_out.items():
        if spot.gate not in FOLLOWS_FROM_ANOTHER:
            yield _rejected(board, trial, spot)
    for trial, candidate in sorted(board.candidates.items()):
        if candidate.state == "INCONCLUSIVE":
            yield from _inconclusive(board, trial)
        elif candidate.state == "ELIGIBLE" and board.winner is not None and trial != board.winner.trial:
            yield from _faster(board, trial, board.winner)


def _rejected(board: Board, trial: str, spot: Spot) -> Draft:
    """A trial that one limit keeps out gets in at that limit."""
    wins = board.would_win(board.values_at(trial, spot, spot.limit), board.winner)
    draft = _reading_flip(board, trial, spot, spot.limit, strict=False, wins=wins)
    return replace(draft, write=lambda: draft.write() if can_pass(board, trial, spot) else None)


def _inconclusive(board: Board, trial: str) -> Iterator[Draft]:
    """A trial with one unmeasured reading gets in if it is measured on the passing side of its limit."""
    spot = _only_unmeasured(board, trial)
    if spot is None:
        return
    # At its limit the reading also gives the keys that are read from the same windows.
    values = board.values_at(trial, spot, spot.limit)
    if None in values:
        return
    outcome, comparator = spot.outcome, _comparator(rises=not spot.is_ceiling, strict=False)
    effect, winner = _gain(board, trial, board.would_win(values, board.winner))
    limit, unit = outcome.limit, outcome.unit
    yield _written(
        Flip(
            kind="unmeasured",
            gate=spot.gate,
            limit_id=spot.declared_id,
            trial=trial,
            unit=unit,
            old=None,
            new=limit,
            comparator=comparator,
            bound=limit,
            change=None,
            raw_values=None,
            effect=effect,
            winner=winner,
            sentence=f"{effect_text(effect, trial, winner)} if {spot.name} is measured "
            f"{SIGNS[comparator]} {readable(limit, unit)}.",
        )
    )


def _only_unmeasured(board: Board, trial: str) -> Spot | None:
    """Return the one limit without a reading, as if it read its limit.

    Telemetry that misses the same fields is the same gap.
    """
    candidate = board.candidates[trial]
    open_limits = [
        (gate, limit_id, outcome)
        for gate in candidate.unknown
        if gate != "telemetry"
        for limit_id, outcome in candidate.gates[gate].limits.items()
        if outcome.outcome == "UNKNOWN"
    ]
    if len(open_limits) != 1:
        return None
    gate, limit_id, outcome = open_limits[0]
    limit = number(outcome.limit)
    missed = {at for limit in candidate.gates["telemetry"].limits.values() for at in limit.missing}
    if outcome.measured is not None or limit is None or not missed <= set(outcome.missing):
        return None
    if outcome.comparator not in ("<=", ">="):
        return None
    return Spot(gate=gate, limit_id=limit_id, outcome=outcome, reading=limit, limit=limit)


def _faster(board: Board, trial: str, winner: Eligible) -> Iterator[Draft]:
    """An eligible trial wins once its rate carries it past the winner on the first key."""
    key = board.order.keys[0]
    boundary = _rate_of(board, trial, number(winner.values[0]))
    spot = _rate_spot(board, trial, key.load_point)
    if boundary is None or spot is None or key.load_point is None:
        return
    strict = not board.would_win(board.values_at_rate(trial, key.load_point, boundary), winner)
    yield _reading_flip(board, trial, spot, boundary, strict=strict, wins=True, floor=True)


def _of_winner(board: Board) -> Iterator[Draft]:
    if board.winner is None:
        return
    trial = board.winner.trial
    for spot in board.spots(trial):
        if spot.gate not in FOLLOWS_FROM_ANOTHER:
            yield _leaving_flip(board, trial, spot, spot.limit, strict=True)
    if len(board.eligible) > 1:
        yield from _overtaken(board, trial, board.eligible[1])


def _overtaken(board: Board, trial: str, second: Eligible) -> Iterator[Draft]:
    """The winner loses to the second once its rate no longer carries it past on the first key."""
    key = board.order.keys[0]
    boundary = _rate_of(board, trial, number(second.values[0]))
    spot = _rate_spot(board, trial, key.load_point)
    if boundary is None or spot is None or key.load_point is None or boundary < spot.limit:
        return
    at_boundary = board.values_at_rate(trial, key.load_point, boundary)
    yield _leaving_flip(board, trial, spot, boundary, strict=board.would_win(at_boundary, second))


def _rate_of(board: Board, trial: str, target: Fraction | None) -> Fraction | None:
    """Return the rate at which a trial's first key has the value ``target``; None where it does not follow from one.

    Per device the rate grows with the key, a price falls with it: both are a constant times or over the rate.
    """
    key = board.order.keys[0]
    change = from_rate(board.views[trial], key.key)
    if change is None or not target or key.load_point is None:
        return None
    at_one = change(Fraction(1))
    return at_one / target if key.key == "usd_per_million_output_tokens" else target / at_one


def _rate_spot(board: Board, trial: str, load_point: str | None) -> Spot | None:
    """Return the throughput limit at a load point, the strictest where there are several."""
    spots = [
        spot
        for spot in board.spots(trial, "throughput")
        if board.views[trial].limits["throughput"][spot.limit_id].load_point == load_point
    ]
    return max(spots, key=lambda spot: spot.limit, default=None)


class Change(Struct, frozen=True, kw_only=True, gc=False):
    """A reading that moves to ``bound`` or, where the sign is strict, just past it, and what comes of it.

    ``rises`` says on which side of the bound it has to be; ``what`` is what comes of it as text.
    """

    trial: str
    spot: Spot
    bound: Fraction
    rises: bool
    strict: bool
    effect: Effect
    winner: str | None
    what: str


def _reading_flip(
    board: Board, trial: str, spot: Spot, bound: Fraction, *, strict: bool, wins: bool, floor: bool | None = None
) -> Draft:
    rises = not spot.is_ceiling if floor is None else floor
    effect, winner = _gain(board, trial, wins)
    return _draft(
        board,
        Change(
            trial=trial,
            spot=spot,
            bound=bound,
            rises=rises,
            strict=strict,
            effect=effect,
            winner=winner,
            what=effect_text(effect, trial, winner),
        ),
    )


def _leaving_flip(board: Board, trial: str, spot: Spot, bound: Fraction, *, strict: bool) -> Draft:
    next_one = board.eligible[1].trial if len(board.eligible) > 1 else None
    return _draft(
        board,
        Change(
            trial=trial,
            spot=spot,
            bound=bound,
            rises=spot.is_ceiling,
            strict=strict,
            effect="OTHER_WINS" if next_one else "NONE_LEFT",
            winner=next_one,
            what=f"{next_one} wins in place of {trial}" if next_one else effect_text("NONE_LEFT", trial, None),
        ),
    )


def _draft(board: Board, change: Change) -> Draft:
    spot, new = change.spot, _nearest(change)
    step = gap(new, spot.reading)
    if spot.reading:
        step = fraction_of(step, abs(spot.reading))
    return Draft(
        effect=change.effect,
        gate=spot.gate,
        limit_id=spot.declared_id or "",
        trial=change.trial,
        old=spot.reading,
        change=step,
        write=lambda: _flip(board, change, new, step),
    )


def _nearest(change: Change) -> Fraction:
    if not change.strict:
        return change.bound
    outcome = change.spot.outcome
    places = max(decimals(outcome.measured), decimals(outcome.limit), decimals(plain(change.bound)))
    return beside(change.bound, places, up=change.rises, strict=True)


def _flip(board: Board, change: Change, new: Fraction, step: Fraction) -> Flip:
    spot, bound = change.spot, plain(change.bound)
    unit, old = spot.outcome.unit, spot.outcome.measured
    comparator = _comparator(rises=change.rises, strict=change.strict)
    size = f", {percent(step)}" if spot.reading else ""
    sentence = (
        f"{change.what} if {spot.name} of {change.trial} is {SIGNS[comparator]} {readable(bound, unit)} "
        f"(measured {readable(old, unit)}{size})."
    )
    return Flip(
        kind="reading",
        gate=spot.gate,
        limit_id=spot.declared_id,
        trial=change.trial,
        unit=unit,
        old=old,
        new=plain(new),
        comparator=comparator,
        bound=bound,
        change=plain(step),
        raw_values=_raw_values(board, change.trial, spot, new),
        effect=change.effect,
        winner=change.winner,
        sentence=sentence,
    )


def _gain(board: Board, trial: str, wins: bool) -> tuple[Effect, str]:
    """Return what comes of letting a trial in, and who wins then."""
    return ("OTHER_WINS", trial) if wins or board.winner is None else ("SAME_WINNER", board.winner.trial)


def _comparator(*, rises: bool, strict: bool) -> Sided:
    if strict:
        return ">" if rises else "<"
    return ">=" if rises else "<="


def _raw_values(board: Board, trial: str, spot: Spot, new: Fraction) -> int | None:
    """Return how many windows would have to move: all on the wrong side to get in, one to leave."""
    view = board.views[trial]
    limit: Any = view.limits.get(spot.gate, {}).get(spot.limit_id)
    if spot.gate == "throughput":
        reading = view.throughput(limit.load_point)
    elif spot.gate in LATENCIES:
        reading = view.statistic(LATENCIES[spot.gate], limit.statistic, limit.load_point)
    else:
        return None
    values = [value for value in reading.windows.values() if value is not None]
    worsens = (new > spot.reading) == spot.is_ceiling
    if worsens:
        return 1
    return sum(value > new if spot.is_ceiling else value < new for value in values)
