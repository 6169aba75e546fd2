"""Limits that would decide otherwise: the nearest value of one limit that lets a trial in or takes the winner out.

Rules kept: a changed limit holds for every trial; whether it lets one in is the gate's answer to the changed limit, so
one-sided evidence is not let in by arithmetic. Only limits are changed that are compared as they stand in
the contract; a reserve or a device's own size between them and the reading leaves them out.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import takewhile
from typing import Any, Literal

import msgspec

from planner.board import Board, Effect, Spot
from planner.figures import beside, decimals, number, percent, readable
from planner.gates import GATES
from planner.numbers import exact, nearest_double, plain
from planner.records.plan import Eligible, Flip

__all__ = ["can_pass", "effect_text", "limit_flips"]

MOST_OF_A_LIMIT = 10
"""Values tried of one limit, smallest change first."""

Place = tuple[str, str]


def limit_flips(board: Board) -> Iterator[Flip]:
    """Yield the flips of every limit that is compared as it stands."""
    by_limit: dict[Place, list[tuple[str, Spot]]] = {}
    for trial, spot in board.kept_out.items():
        if _field(board, spot) is not None:
            by_limit.setdefault((spot.gate, spot.limit_id), []).append((trial, spot))
    for out in by_limit.values():
        is_ceiling = out[0][1].is_ceiling
        # All of them stand on the failing side of one limit, so that the nearest is the one that reads best.
        yield from _loosened(board, sorted(out, key=_by_reading, reverse=not is_ceiling))
    if board.winner is not None:
        for spot in board.spots(board.winner.trial):
            if _field(board, spot) is not None:
                yield from _tightened(board, board.winner, spot)


def _by_reading(entry: tuple[str, Spot]) -> tuple[float, Fraction]:
    # Doubles order as exact values do, and are far quicker compared; where two share one, the values decide.
    return nearest_double(entry[1].reading), entry[1].reading


def can_pass(board: Board, trial: str, spot: Spot) -> bool:
    """Say whether evidence of this kind can pass at all: a lower bound never passes a ceiling, whatever it reads.

    Asked by moving the limit to the reading; True where that cannot be asked.
    """
    if _field(board, spot) is None:
        return True
    at_reading = _limit_beside(board, spot, up=spot.is_ceiling, strict=False)
    return at_reading is None or _lets_in(board, trial, spot, _limit_with(board, spot, at_reading))


def _loosened(board: Board, out: list[tuple[str, Spot]]) -> Iterator[Flip]:
    """Move the limit to each reading that it keeps out, nearest first; whatever else that lets in counts too."""
    let_in: list[str] = []
    for trial, spot in out[:MOST_OF_A_LIMIT]:
        new = _limit_beside(board, spot, up=spot.is_ceiling, strict=False)
        if new is None:
            continue
        changed = _limit_with(board, spot, new)
        # What was let in stays in, as the limit is looser each time.
        reached = [name for name in _reached(out, new) if name not in let_in]
        let_in += [name for name in reached if _lets_in(board, name, spot, changed)]
        if trial not in let_in:
            continue
        entries = [Eligible(trial=name, values=board.values(name)) for name in let_in]
        best = board.winner
        for entry in entries:
            best = entry if board.would_win(entry.values, best) else best
        if best is not None:
            yield _flip(board, spot, new, trial=trial, winner=best.trial)


def _reached(out: list[tuple[str, Spot]], limit: Fraction) -> Iterator[str]:
    """Name the trials whose reading passes at a limit; they come first."""
    return (trial for trial, _ in takewhile(lambda entry: _passes(entry[1], limit), out))


def _tightened(board: Board, winner: Eligible, spot: Spot) -> Iterator[Flip]:
    """Move the limit just past the winner's reading; whoever it takes out as well is gone too."""
    new = _limit_beside(board, spot, up=not spot.is_ceiling, strict=True)
    if new is None:
        return
    left = next((entry.trial for entry in board.eligible if _stays(board, entry.trial, spot, new)), None)
    yield _flip(board, spot, new, trial=winner.trial, winner=left)


def _stays(board: Board, trial: str, spot: Spot, new: Fraction) -> bool:
    own = board.spot(trial, spot.gate, spot.limit_id)
    return own is None or _passes(own, new)


def _passes(spot: Spot, limit: Fraction) -> bool:
    return spot.reading <= limit if spot.is_ceiling else spot.reading >= limit


def _lets_in(board: Board, trial: str, spot: Spot, changed: Any) -> bool:
    """Ask the gate itself: nothing else keeps the trial out, and one-sided evidence may still not pass."""
    rule = next(gate.rule for gate in GATES if gate.id == spot.gate)
    return rule(board.views[trial], changed).outcome == "PASS"


def _field(board: Board, spot: Spot) -> str | None:
    """Return the limit's field that the reading is compared with as it stands; None where there is none."""
    parts = str(spot.outcome.limit_at).split("/")
    if parts[1:4] != ["gates", spot.gate, spot.limit_id] or len(parts) != 5:
        return None
    declared = _contract(board).gates[spot.gate][spot.limit_id].get(parts[4])
    is_number = isinstance(declared, int | float) and not isinstance(declared, bool)
    return parts[4] if is_number and exact(declared) == spot.limit else None


def _contract(board: Board) -> Any:
    return next(iter(board.views.values())).contract


def _limit_with(board: Board, spot: Spot, value: Fraction) -> Any:
    """Return the limit's record with another value.

    Raises:
        msgspec.ValidationError: the field does not take it.
    """
    record = next(iter(board.views.values())).limits[spot.gate][spot.limit_id]
    return msgspec.convert({**msgspec.to_builtins(record), str(_field(board, spot)): plain(value)}, type(record))


def _limit_beside(board: Board, spot: Spot, *, up: bool, strict: bool) -> Fraction | None:
    """Return the nearest value beside the reading that the field takes, a decimal or else an integer."""
    places = max(decimals(spot.outcome.measured), decimals(spot.outcome.limit))
    for wanted in (places, 0):
        value = beside(spot.reading, wanted, up=up, strict=strict)
        try:
            _limit_with(board, spot, value)
        except msgspec.ValidationError:
            continue
        return value
    return None


def effect_text(effect: Effect, trial: str, winner: str | None) -> str:
    """Say what comes of a flip about ``trial``; None wins where nothing is left."""
    return {
        "OTHER_WINS": f"{winner} wins",
        "NONE_LEFT": f"{trial} leaves and nothing is eligible",
        "SAME_WINNER": f"{trial} becomes eligible, {winner} still wins,",
    }[effect]


def _flip(board: Board, spot: Spot, new: Fraction, *, trial: str, winner: str | None) -> Flip:
    is_same = board.winner is not None and winner == board.winner.trial
    effect: Effect = "NONE_LEFT" if winner is None else "SAME_WINNER" if is_same else "OTHER_WINS"
    unit, old = spot.outcome.unit, spot.outcome.limit
    passing = number(spot.outcome.margin) or Fraction(0)
    comparator: Literal["<=", ">="] = "<=" if spot.is_ceiling == (passing >= 0) else ">="
    change = (new - spot.limit) / abs(spot.limit) if spot.limit else new - spot.limit
    what = effect_text(effect, trial, winner)
    size = f", {percent(change)}" if spot.limit else ""
    return Flip(
        kind="limit",
        gate=spot.gate,
        limit_id=spot.limit_id,
        trial=trial,
        unit=unit,
        old=old,
        new=plain(new),
        comparator=comparator,
        bound=plain(new),
        change=plain(change),
        raw_values=None,
        effect=effect,
        winner=winner,
        sentence=f"{what} if the limit {spot.name} is {readable(plain(new), unit)} "
        f"(declared {readable(old, unit)}{size}).",
    )
