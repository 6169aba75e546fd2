"""Slots, what ends, and shared trials as rows of a file: whole values, times in RFC 3339, money as numbers.

What is not known is empty.
"""

from collections.abc import Iterator

from reviews.clock import utc_text
from reviews.selectors.shared_trials import SharedTrials
from reviews.selectors.slot_ends import End
from reviews.selectors.slots import SlotRow
from reviews.web.csv_text import Value, plain

COLUMNS = (
    *("slot", "holds", "decision", "revision", "state", "state_since", "because", "owner", "model", "engine"),
    *("trial", "topology", "rollback", "activated_at", "valid_until", "incident"),
    *("devices", "devices_with_ranks", "devices_spare", "devices_stranded", "device_types", "charge"),
    *("usd_per_hour", "usd_per_month", "unpriced"),
    *("reported_at", "reporting_hosts", "differing_keys", "breaches", "drifts", "observed_at", "other_decisions"),
)
END_COLUMNS = ("at", "kind", "slot", "decision", "topology", "name", "by_evidence", "follows")
SHARED_COLUMNS = (
    "content_id",
    "retracted",
    "slots",
    "slot",
    "decision",
    "revision",
    "state",
    "trial",
    "put_into_force",
)


def slot_values(row: SlotRow) -> list[Value]:
    """Return a slot in the order of ``COLUMNS``."""
    fact, decision, heard, findings = row.fact, row.fact.decision, row.heard, row.findings
    return [
        fact.slot,
        fact.hold,
        decision.label,
        fact.held.revision if fact.held else None,
        decision.state,
        utc_text(decision.now.since),
        decision.now.because,
        decision.owner,
        decision.model,
        decision.engine,
        *_held_values(row),
        *_footprint_values(row),
        utc_text(heard.at) if heard.at else None,
        heard.hosts if heard.at else None,
        " ".join(one.key for one in heard.differences),
        findings.breaches if findings.last_batch_at else None,
        findings.drifts if findings.last_batch_at else None,
        utc_text(findings.last_batch_at) if findings.last_batch_at else None,
        " ".join(other.label for other in fact.others),
    ]


def _held_values(row: SlotRow) -> list[Value]:
    held, until = row.fact.held, row.fact.decision.now.until
    if held is None:
        return [None] * 6
    return [
        held.trial,
        held.topology,
        held.rollback,
        utc_text(held.activated_at),
        utc_text(until) if until else None,
        held.incident,
    ]


def _footprint_values(row: SlotRow) -> list[Value]:
    taken = row.fact.held.footprint if row.fact.held else None
    if taken is None:
        return [None] * 9
    return [
        taken.devices,
        taken.used,
        taken.spares,
        taken.stranded,
        ", ".join(f"{number} {name}" for name, number in taken.types.items()),
        taken.charge,
        plain(taken.usd_per_hour),
        plain(taken.usd_per_month),
        taken.unpriced,
    ]


def end_values(end: End) -> list[Value]:
    """Return something that ends in the order of ``END_COLUMNS``."""
    return [
        utc_text(end.at),
        end.kind,
        end.slot,
        end.label,
        end.topology,
        end.name,
        end.by_evidence,
        end.follows,
    ]


def shared_values(found: SharedTrials) -> Iterator[list[Value]]:
    """Yield each slot of each trial in the order of ``SHARED_COLUMNS``."""
    for row in found.rows:
        for use in row.uses:
            held, decision = use.fact.held, use.fact.decision
            yield [
                row.content_id,
                row.is_retracted,
                row.slots,
                use.fact.slot,
                decision.label,
                held.revision if held else None,
                decision.state,
                use.trial,
                use.is_chosen,
            ]
