"""What can be done with a reviewed decision, as rows of text: put into force, reject, close, withdraw. Pure."""

from dataclasses import dataclass

from reviews.policies.requirements import NOTHING_SELECTED
from reviews.policies.signoff_status import AGAINST
from reviews.selectors.rows import ActivationRow, DecisionPage
from reviews.web.formats import when
from reviews.web.page_rows import STATES, team_title


@dataclass(frozen=True, slots=True, kw_only=True)
class ActForm:
    """One act: ``off`` says why the reader cannot do it now; ``field`` is what the text is called."""

    id: str
    title: str
    text: str
    field: str
    hint: str
    button: str
    off: str
    typed: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class InForce:
    """What was put into force last, as lines of name and value."""

    title: str
    lines: tuple[tuple[str, str], ...]


def acts_of(page: DecisionPage, *, typed: dict[str, str], problem: str) -> tuple[ActForm, ...]:
    """Return the acts that fit the state of a decision; what was typed and refused is kept in its form."""
    forms = [*_releases(page), *([_withdrawal(page)] if page.is_author else [])]
    chosen = typed.get("act", "")
    return tuple(
        ActForm(
            id=form.id,
            title=form.title,
            text=form.text,
            field=form.field,
            hint=form.hint,
            button=form.button,
            off=form.off,
            typed=typed.get(form.field, "") if form.id == chosen else "",
            problem=problem if form.id == chosen else "",
        )
        for form in forms
    )


def _releases(page: DecisionPage) -> list[ActForm]:
    refused = "" if page.may_release.allowed else page.may_release.reason
    is_open = page.state in ("IN_REVIEW", "EMERGENCY")
    state = "" if is_open else f"{page.label} is {STATES[page.state].text.lower()}."
    plan = page.newest.plan
    selects = page.approval.approved or (plan is not None and plan.decision_word == "SELECT_TOPOLOGY")
    rejecting = {row.team for row in page.signoffs if row.judged.counts and row.meaning == "reject"}
    named = ", ".join(team_title(team).lower() for team in sorted(rejecting)) or "no team"
    activate = ActForm(
        id="activate",
        title="Put into force",
        text="Everything is judged again at this moment; what it rests on is kept. An older decision of the slot ends.",
        field="statement",
        hint="What you checked before the roll-out. It is kept in the audit log.",
        button="Put into force",
        off=state or refused or ("" if page.approval.approved else page.approval.because),
    )
    close = ActForm(
        id="close",
        title="Close without a selection",
        text=f"Closes the decision as what it found. {NOTHING_SELECTED}",
        field="reason",
        hint="What was learnt. It is kept in the audit log.",
        button="Close",
        off=state or refused or ("" if page.is_agreed else "Not every team agrees yet."),
    )
    reject = ActForm(
        id="reject",
        title="Close as rejected",
        text=f"Takes two teams whose sign-off says {AGAINST['reject'].lower()}, or one with a hard veto. Now: {named}.",
        field="reason",
        hint="Why it ends here. It is kept in the audit log.",
        button="Close as rejected",
        off=state or refused or ("" if rejecting else "No team rejects it."),
    )
    return [activate if selects else close, reject]


def _withdrawal(page: DecisionPage) -> ActForm:
    can = page.state in ("IN_REVIEW", "DRAFT")
    return ActForm(
        id="withdraw",
        title="Withdraw",
        text="For its authors. It is final; the history stays.",
        field="reason",
        hint="Why it is not needed any more. It is kept in the audit log.",
        button="Withdraw the decision",
        off="" if can else f"{page.label} is {STATES[page.state].text.lower()}.",
    )


def in_force_of(row: ActivationRow | None) -> InForce | None:
    """Write what was put into force last."""
    if row is None:
        return None
    until = f"{when(row.valid_until)} UTC" if row.valid_until else "no limit"
    return InForce(
        title=f"Emergency {row.incident}" if row.incident else f"r{row.revision} was put into force",
        lines=(
            ("topology", f"{row.topology} ({row.trial})"),
            ("by", f"{row.person}, {when(row.activated_at)} UTC"),
            ("valid until", until),
            ("rollback", row.rollback or "none"),
            ("statement", row.statement),
        ),
    )
