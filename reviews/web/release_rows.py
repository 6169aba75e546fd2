"""What can be done with a reviewed decision, as forms: put into force, end, go past, roll back. Pure.

Every act that fits the state is shown; where the reader cannot do it, its form is off and says why.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from planner.decision_numbers import decision_label
from planner.records.plan import Plan
from planner.times import parsed_time
from reviews.clock import when
from reviews.policies.document import team_title
from reviews.policies.requirements import NOTHING_SELECTED
from reviews.selectors.pages import ReleaseView
from reviews.selectors.proposals import ProposalRow
from reviews.selectors.rows import ActivationRow, DecisionPage, WaiverRow
from reviews.web.formats import digests_shortened

IN_FORCE = ("EFFECTIVE", "CONTESTED", "STALE", "EXPIRED")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a form; ``kind`` is area, text, number, date, select or checks. ``typed`` holds what was chosen."""

    name: str
    label: str
    kind: str = "area"
    hint: str = ""
    is_required: bool = False
    options: tuple[tuple[str, str], ...] = ()
    typed: tuple[str, ...] = ()

    @property
    def value(self) -> str:
        """What stands in a field of one value."""
        return self.typed[0] if self.typed else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActForm:
    """One act: ``off`` says why the reader cannot do it now, ``problem`` why it was refused; ``is_confirmed`` that its
    sender has proved to be the one since it was sent, so that it has to be sent again."""

    id: str
    title: str
    text: str
    fields: tuple[Field, ...]
    button: str
    off: str = ""
    problem: str = ""
    is_confirmed: bool = False
    is_bound: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the form is shown at once: what ends a review as it should, and what was sent and is not done."""
        return self.id in ("activate", "close") or bool(self.problem) or self.is_confirmed


@dataclass(frozen=True, slots=True)
class Lines:
    """A heading with lines of name and value."""

    title: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A proposal that waits for its second person: ``who`` can be it, until when; ``off`` says why the reader is none.

    ``is_over``: it is not carried out any more. ``is_confirmed`` as of an act, with the ``reason`` that was typed.
    """

    id: int
    title: str
    text: str
    asks: str
    who: str
    until: str
    lines: tuple[tuple[str, str], ...]
    is_mine: bool
    is_over: bool
    off: str
    is_confirmed: bool = False
    reason: str = ""


def reason(hint: str) -> Field:
    """Return the field for a reason."""
    return Field(name="reason", label="Reason", hint=f"{hint} It is kept in the audit log.", is_required=True)


def acts_of(found: ReleaseView, *, typed: Mapping[str, Sequence[str]], problem: str) -> tuple[ActForm, ...]:
    """Return the acts that fit the state of a decision; what was typed is kept in its form, where it was refused, or
    without a problem where its sender had to prove to be the one first."""
    chosen = next(iter(typed.get("act", ())), "")
    return tuple(
        form
        if form.id != chosen
        else replace(
            form,
            problem=problem,
            is_confirmed=not problem,
            fields=tuple(replace(field, typed=tuple(typed.get(field.name, ()))) for field in form.fields),
        )
        for form in _acts(found)
    )


def _acts(found: ReleaseView) -> Iterator[ActForm]:
    page = found.page
    if page.state in ("IN_REVIEW", "EMERGENCY"):
        yield from _releases(found)
        yield _re_review(page)
    if page.state == "IN_REVIEW" and found.plan is not None:
        yield from _exceptions(found, found.plan)
    if page.is_author and page.state in ("IN_REVIEW", "DRAFT", "EVALUATION_FAILED"):
        yield ActForm(
            id="withdraw",
            title="Withdraw",
            text="For its authors. It is final; the history stays.",
            fields=(reason("Why it is not needed any more."),),
            button="Withdraw the decision",
        )
    yield from _objections(found)
    if page.state in IN_FORCE:
        yield from _ways_back(found)
    if found.plan is not None:
        yield _reproduce(page)
    if found.is_retractable:
        yield _retract(found)


def _releases(found: ReleaseView) -> Iterator[ActForm]:
    page = found.page
    refused = "" if page.may_release.allowed else page.may_release.reason
    plan = page.newest.plan
    if page.approval.approved or (plan is not None and plan.decision_word == "SELECT_TOPOLOGY"):
        yield ActForm(
            id="activate",
            title="Put into force",
            text="Everything is judged again at this moment; what it rests on is kept. The slot's older decision ends.",
            fields=(
                Field(
                    name="rollback",
                    label="If it goes wrong, back to",
                    kind="select",
                    options=tuple((choice.value, choice.text) for choice in found.rollbacks),
                ),
                Field(
                    name="statement",
                    label="Statement",
                    hint="What you checked before the roll-out. It is kept in the audit log.",
                    is_required=True,
                ),
            ),
            button="Put into force",
            off=refused or ("" if page.approval.approved else page.approval.because),
            is_bound=True,
        )
    else:
        yield ActForm(
            id="close",
            title="Close without a selection",
            text=f"Closes the decision as what it found. {NOTHING_SELECTED}",
            fields=(reason("What was learnt."),),
            button="Close",
            off=refused or ("" if page.is_agreed else "Not every team agrees yet."),
        )
    rejecting = {row.team for row in page.signoffs if row.judged.counts and row.meaning == "reject"}
    named = ", ".join(team_title(team).lower() for team in sorted(rejecting)) or "no team"
    yield ActForm(
        id="reject",
        title="Close as rejected",
        text=f"Takes two teams that reject it, or one with a hard veto. Now: {named}.",
        fields=(reason("Why it ends here."),),
        button="Close as rejected",
        off=refused or ("" if rejecting else "No team rejects it."),
    )


def _re_review(page: DecisionPage) -> ActForm:
    teams = [row.team for row in page.requirements if row.status != "NOT_APPLICABLE"]
    mine = teams if page.is_author else [seat.team for seat in page.seats if seat.team in teams]
    return ActForm(
        id="re_review",
        title="Ask for another review",
        text="What the teams signed so far counts no more, carried or not. Authors ask any team, members their own.",
        fields=(
            Field(name="teams", label="Teams", kind="checks", options=tuple((team, team_title(team)) for team in mine)),
            reason("What changed that no digest shows."),
        ),
        button="Ask for another review",
        off="" if mine else "You are neither an author of this decision nor a member of a team that it asks.",
    )


def _exceptions(found: ReleaseView, plan: Plan) -> Iterator[ActForm]:
    offers = found.offers
    if offers.gates:
        yield ActForm(
            id="waiver",
            title="Propose a waiver",
            text="One gate of one candidate, for a time. Its owning team and the team of waivers sign, two persons.",
            fields=(
                Field(
                    name="gate",
                    label="Gate",
                    kind="select",
                    options=tuple((f"{trial}:{gate}", f"{gate} × {trial}") for trial, gate in offers.gates),
                ),
                Field(name="ends", label="Until (UTC)", kind="date", hint="At most 180 days.", is_required=True),
                reason("Why it can be let pass by, and what makes up for it."),
            ),
            button="Propose the waiver",
            off=offers.verdicts["waiver"].reason,
        )
    yield ActForm(
        id="emergency",
        title="Declare an emergency",
        text="Puts one named candidate into force for 72 h at most, before its review is done. "
        "Incident response and an owner of a failing gate, two persons; the review is still owed.",
        fields=(
            Field(
                name="trial",
                label="Candidate",
                kind="select",
                options=tuple((trial, f"{row.topology} ({trial})") for trial, row in plan.candidates.items()),
            ),
            Field(name="incident", label="Incident", kind="text", is_required=True),
            Field(name="hours", label="Hours", kind="number", is_required=True),
            Field(
                name="failing_gates",
                label="Failing and unknown gates, one per line",
                hint="All of the candidate's, named by you.",
                is_required=True,
            ),
            reason("Why it cannot wait."),
        ),
        button="Propose the emergency",
        off=offers.verdicts["emergency"].reason,
    )


def _objections(found: ReleaseView) -> Iterator[ActForm]:
    offers = found.offers
    if offers.objections:
        yield ActForm(
            id="lift_objection",
            title="Lift an objection",
            text="Its signer withdraws it. Without them it takes the team's lead with a reason, and a second member.",
            fields=(
                Field(
                    name="signoff",
                    label="Objection",
                    kind="select",
                    options=tuple(
                        (str(row.id), f"{row.person} for {team_title(row.team).lower()}") for row in offers.objections
                    ),
                ),
                reason("Why it no longer stands."),
            ),
            button="Propose to lift it",
            off=offers.verdicts["lift_objection"].reason,
        )


def _ways_back(found: ReleaseView) -> Iterator[ActForm]:
    offers = found.offers
    if found.page.state == "CONTESTED":
        yield ActForm(
            id="revocation",
            title="Revoke",
            text="For good. It takes one person of each revoking team.",
            fields=(reason("What was found."),),
            button="Propose to revoke it",
            off=offers.verdicts["revocation"].reason,
        )
    if offers.earlier:
        yield ActForm(
            id="rollback",
            title="Roll back",
            text="A new decision on the very bytes of an earlier one, in one act. "
            "It takes a releasing team and incident response, two persons.",
            fields=(
                Field(
                    name="to",
                    label="Back to",
                    kind="select",
                    options=tuple(
                        (str(number), f"{decision_label(number)}, {topology}") for number, topology in offers.earlier
                    ),
                ),
                reason("What went wrong."),
            ),
            button="Propose to roll back",
            off=offers.verdicts["rollback"].reason,
        )


def _reproduce(page: DecisionPage) -> ActForm:
    return ActForm(
        id="reproduce",
        title="Reproduce",
        text="Plans the stored bytes again, by somebody who is no author. Whether the plan id is the same is an entry.",
        fields=(),
        button="Plan again",
        off=page.may_reproduce.reason,
    )


def _retract(found: ReleaseView) -> ActForm:
    trials = found.plan.candidates.items() if found.plan is not None else ()
    return ActForm(
        id="retract",
        title="Retract evidence",
        text="For faulty evidence. Every decision that counted it is listed, and what is in force is contested.",
        fields=(
            Field(
                name="content_id",
                label="What is faulty",
                kind="select",
                options=(
                    (found.page.newest.evidence, "the whole evidence"),
                    *((row.trial_content_id, f"trial {trial}") for trial, row in trials),
                ),
            ),
            reason("What is wrong with it."),
        ),
        button="Retract it",
        off=found.offers.verdicts["retract"].reason,
    )


def in_force_of(row: ActivationRow | None) -> Lines | None:
    """Write what was put into force last."""
    if row is None:
        return None
    until = f"{when(row.valid_until)} UTC" if row.valid_until else "no limit"
    return Lines(
        f"Emergency {row.incident}" if row.incident else f"r{row.revision} was put into force",
        (
            ("topology", f"{row.topology} ({row.trial})"),
            ("by", f"{row.persons}, {when(row.activated_at)} UTC"),
            ("valid until", until),
            ("rollback", row.rollback or "none"),
            ("statement", row.statement),
        ),
    )


def place_of(typed: Mapping[str, str]) -> str:
    """Return where on its page the form stands that was sent."""
    return f"#proposal-{typed['proposal']}" if typed.get("proposal") else f"#{typed.get('act', '')}"


def waiting_of(row: ProposalRow, *, typed: Mapping[str, str]) -> Waiting:
    """Write a proposal that waits for its second person; ``typed`` is what its sender typed before a confirmation."""
    is_confirmed = typed.get("proposal") == str(row.id)
    team = f" for {team_title(row.team).lower()}" if row.team else ""
    return Waiting(
        id=row.id,
        title=row.title,
        text=f"{row.person}{team}, {when(row.proposed_at)} UTC: {row.reason}",
        asks=row.asks,
        who=row.waiting_text,
        until=f"{when(row.until)} UTC",
        lines=tuple((name.replace("_", " "), _said(value)) for name, value in sorted(row.body.items())),
        is_mine=row.is_mine,
        is_over=bool(row.waits and row.waits.over),
        off=row.verdict.reason,
        is_confirmed=is_confirmed,
        reason=typed.get("reason", "") if is_confirmed else "",
    )


def _said(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_said, value))
    at = parsed_time(str(value))
    return f"{when(at)} UTC" if at else digests_shortened(str(value))


def waived_of(rows: Sequence[WaiverRow], now: datetime) -> dict[tuple[str, str], str]:
    """Return (trial, gate) -> what the matrix says of a waiver in force."""
    return {
        (row.trial, row.gate): f"Waived until {when(row.ends_at)} UTC by {row.persons}: {row.reason} It is no pass."
        for row in rows
        if row.ends_at > now
    }


def waiver_line(row: WaiverRow) -> tuple[str, str]:
    """Write a waiver; it is never shown as a pass."""
    return f"{row.gate} × {row.trial}", f"waived until {when(row.ends_at)} UTC, {row.persons}: {row.reason}"
