"""The report of a bundle: one HTML file without scripts and without anything fetched from elsewhere."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from reviews.bundle.record import PARTS, put_into_force, status_of
from reviews.bundle.reviewed import Entry, Names, ReviewedDecision, ReviewedRevision, persons
from reviews.models import Checkpoint

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; width: 100%; }
th, td { border-bottom: 1px solid #999; padding: .25rem .5rem; text-align: left; vertical-align: top; }
div { overflow-x: auto; }
body > div:first-of-type td { overflow-wrap: anywhere; }
td { overflow-wrap: break-word; }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
MOST_ENTRIES = 2_000
"""How many entries of one decision the report lists; the table of entries lists all."""


def report_begin(checkpoint: Checkpoint, scope: str, faults: Sequence[str]) -> bytes:
    """Return what stands before the decisions. ``faults``: what does not hold."""
    title = f"Review of {scope} in {checkpoint.workspace.title}"
    log = [
        ("Log", checkpoint.workspace.log_origin),
        ("Entries", f"{checkpoint.size:,}"),
        ("Root", bytes(checkpoint.root).hex()),
        ("Signed by", checkpoint.key),
    ]
    return "".join(
        (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>\n<h1>{escape(title)}</h1>\n",
            "<p>This page tells in words what the files beside it prove. Check them before you rely on it: ",
            "<code>python3 -I verify.py BUNDLE.zip --key KEY</code>, with a <code>verify.py</code> and a key that did ",
            "not come in this bundle.</p>\n",
            *_warning(faults),
            _table(("", ""), log),
        )
    ).encode()


def _warning(faults: Sequence[str]) -> Iterator[str]:
    if faults:
        yield "<h2>This log does not hold</h2>\n<p>Everything that is stored is in the bundle. Decisions are told "
        yield "below, and stated in statements.jsonl, only as far as the log holds; tables/ list all entries.</p>\n"
        yield "<ul>\n"
        yield from (f"<li>{escape(fault)}</li>\n" for fault in faults)
        yield "</ul>\n"


def report_decision(decision: ReviewedDecision, names: Names) -> bytes:
    """Return the part about one decision."""
    parts = [
        f"<h2>{escape(decision.label)}: {escape(decision.title)}</h2>\n",
        f"<p>Slot {escape(decision.slot)}. Status: {escape(status_of(decision))}.</p>\n",
        *_put_into_force(decision, names),
        *(_planned(decision.newest) if decision.newest else ()),
        "<h3>Sign-offs</h3>\n",
        _signed(list(_signoffs(decision, names))),
        "<h3>History</h3>\n",
        _table(("Entry", "Time, UTC", "What", "Who", "Revision", "Reason"), _history(decision, names)),
    ]
    if len(decision.entries) > MOST_ENTRIES:
        parts.append(f"<p>And {len(decision.entries) - MOST_ENTRIES:,} more in tables/entries.csv.</p>\n")
    return "".join(parts).encode()


def report_end() -> bytes:
    """Return what stands after the decisions."""
    return b"</body></html>\n"


def _put_into_force(decision: ReviewedDecision, names: Names) -> Iterator[str]:
    put = put_into_force(decision)
    if put is not None:
        what = f"r{put.fields['revision']}, {put.payload['trial']} ({put.payload['topology']})"
        who, why = persons(put, names), put.fields["reason"] or ""
        yield f"<p>Put into force: {escape(what)}, by {escape(who)} at {escape(put.fields['at'])}. {escape(why)}</p>\n"


def _planned(newest: ReviewedRevision) -> Iterator[str]:
    facts = newest.facts
    yield f"<p>Newest planned revision: {escape(facts.label)}, by planner {escape(facts.planner_version)}.</p>\n"
    chosen = newest.plan["selected"]
    says = f"selects {chosen['trial']} ({chosen['topology']})" if chosen else f"says {newest.plan['decision']}"
    yield f"<p>The planner {escape(says)}.</p>\n"
    digests = [(name, getattr(facts, fact)) for name, fact in PARTS.items()]
    yield _table(("Part", "Digest"), digests)
    yield "<h3>Candidates</h3>\n"
    rows = [
        (trial, candidate["topology"], candidate["state"], ", ".join((*candidate["failing"], *candidate["unknown"])))
        for trial, candidate in newest.plan["candidates"].items()
    ]
    yield _table(("Trial", "Topology", "State", "Gates not passed"), rows)


def _signed(rows: Sequence[Sequence[str]]) -> str:
    titles = ("Entry", "Time, UTC", "Who", "Team", "Revision", "Meaning", "Statement", "Status when put into force")
    return _table(titles, rows) if rows else "<p>Nobody signed.</p>\n"


def _signoffs(decision: ReviewedDecision, names: Names) -> Iterator[Sequence[str]]:
    reviews = decision.newest.said["reviews"] if decision.newest else []
    counted = {row["seq"]: row["status"] for review in reviews for row in review["approvals"]}
    for entry in decision.entries:
        if entry.action == "signoff.given":
            said, seq = entry.payload, entry.fields["seq"]
            who = names(said["person"])
            if said.get("in_place_of"):
                who = f"{who} in place of {names(said['in_place_of'])}"
            revision, meaning = f"r{entry.fields['revision']}", said["meaning"].replace("_", " ")
            yield str(seq), said["at"], who, said["team"], revision, meaning, said["statement"], counted.get(seq, "")


def _history(decision: ReviewedDecision, names: Names) -> Iterator[Sequence[str]]:
    for entry in decision.entries[:MOST_ENTRIES]:
        yield _event(entry, names)


def _event(entry: Entry, names: Names) -> Sequence[str]:
    fields = entry.fields
    revision = "" if fields["revision"] is None else f"r{fields['revision']}"
    return str(fields["seq"]), fields["at"], entry.action, names(fields["actor"]), revision, fields["reason"] or ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    lines = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>\n" for row in rows)
    return f'<div tabindex="0"><table><thead><tr>{titles}</tr></thead><tbody>\n{lines}</tbody></table></div>\n'


def _cell(text: str) -> str:
    shown = escape(text)
    return f"<code>{shown}</code>" if text.startswith("sha256:") else shown
