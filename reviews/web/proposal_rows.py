"""Proposals that wait for a second person, as lines above a page, and where they are countersigned."""

from django.urls import reverse

from reviews.clock import when
from reviews.models import ProposalKind
from reviews.policies.document import team_title
from reviews.selectors.proposals import ProposalRow
from reviews.web.page_rows import Strip


def countersigning_href(slug: str, row: ProposalRow) -> str:
    """Return the address at which a proposal is countersigned."""
    name, args = ("policy-detail", [slug]) if row.decision is None else ("decision-release", [slug, row.decision])
    return f"{reverse(name, args=args)}#proposal-{row.id}"


def proposed_by(row: ProposalRow) -> str:
    """Say who proposed it, from which seat."""
    return f"{row.person} proposed it{f' for {team_title(row.team).lower()}' if row.team else ''}."


def second_strip(row: ProposalRow, slug: str, *, of: str = "") -> Strip:
    """Say that a proposal waits, and for whom; ``of`` names its decision where a page has several."""
    is_theirs = row.verdict.allowed and not row.is_mine
    is_urgent = row.kind == ProposalKind.EMERGENCY
    return Strip(
        lead=f"{row.title}{f' of {of}' if of else ''} proposed.",
        text=f"{row.asks} {proposed_by(row)} {row.waiting_text}",
        icon="turn" if is_theirs else "wait",
        css="unk" if is_urgent else "plain",
        more=f"Open until {when(row.until)} UTC.",
        href=countersigning_href(slug, row),
        action="Countersign" if is_theirs else "See it",
        is_turn=is_theirs,
    )
