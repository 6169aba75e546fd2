"""Logs that somebody made who holds the key: bytes, chain and signatures are sound, a rule of reviewing is not kept."""

import io
from collections.abc import Callable
from typing import Any

import pytest

from planner.canonical import content_id, file_sha256
from planner.verifier.verify import verify
from tests.verifier.making import KEY, UNCHECKED, content, sound_story, written
from tests.verifier.story import POLICY, PROVEN, Story, activate, at, carry, revise, sign, token

Change = Callable[[Story], object]


def said(log: Story, label: str) -> dict[str, Any]:
    """Return the payload of an act."""
    payload = log[label].payload
    assert payload is not None
    return payload


def again(log: Story, *planned: str) -> None:
    """Let every act name the subjects as they are after a change of what they are made of."""
    moved = {log[label].fields["subject"]: log.subject(label) for label in planned}
    for act in log.acts:
        act.fields |= {"subject": moved[act.fields["subject"]]} if act.fields.get("subject") in moved else {}
        for tree in (act.payload or {}, *(act.payload or {}).get("signoffs", ())):
            tree |= {name: moved[value] for name, value in tree.items() if isinstance(value, str) and value in moved}


def person(log: Story, label: str, name: str) -> None:
    """Let a sign-off be somebody else's."""
    said(log, label)["person"] = log[label].fields["actor"] = token(name)


def moved_scope(log: Story) -> None:
    said(log, "planned 1.2")["scopes"]["serving"]["digest"] = file_sha256(b"another scope")


def newer_planner(log: Story) -> None:
    said(log, "created 1.2")["planner_version"] = said(log, "planned 1.2")["planner_version"] = "1.3.0"
    again(log, "planned 1.2")


def new_policy(log: Story, before: str) -> str:
    """Set another policy, and return its content id."""
    policy = POLICY | {"max_age_s": 3600}
    log.add("policy 2", "policy.set", policy, before=before)
    return content_id(policy)


def old_policy(log: Story) -> None:
    new_policy(log, before="created 1.1")


def quorum(log: Story, **quorums: int) -> None:
    """Ask other numbers of approvals from the start."""
    policy = POLICY | {"teams": {team: {"title": team, "quorum": count} for team, count in quorums.items()}}
    log["policy"].payload = policy
    for label in ("created 1.1", "created 1.2", "created 2.1"):
        said(log, label)["policy"] = content_id(policy)
    again(log, "planned 1.1", "planned 1.2", "planned 2.1")


def before_force(action: str, payload: dict[str, Any], **fields: Any) -> Change:
    """Return a change that lets something happen before D-0002 is put into force."""
    return lambda log: log.add("added", action, payload, before="force 2", **fields)


OF_BOB: dict[str, Any] = {"decision": 2, "revision": 1, "team": "serving", "actor": token("bob")}


def withdrawn(log: Story) -> None:
    log.add("added", "signoff.withdrawn", {"turn": 1}, before="force 2", **OF_BOB)


def objected(log: Story, meaning: str) -> None:
    sign(log, "added", "erin", "serving", 2, 1, meaning=meaning, before="force 2", in_place_of="dave")
    lend = log["lend"]
    log.acts.insert(log.seq("added"), type(lend)("lend 2", lend.action, dict(lend.payload or {}), dict(lend.fields)))
    log["lend 2"].fields |= {"team": "serving", "actor": token("dave")}
    said(log, "lend 2")["in_place_of"] = token("dave")
    said(log, "added")["at"] = at(25)


def opened(log: Story) -> None:
    thread = {"thread": 1, "comment": 1, "text": "Why?", "opens": {"team": "serving", "blocking": True}}
    log.add("added", "comments.published", {"comments": [thread]}, before="force 2", decision=2, revision=1)


def waived(log: Story) -> None:
    grant = {"trial": "t-1", "gate": "ttft", "owner": token("bob"), "ends_at": at(900)}
    log.add("added", "waiver.granted", grant, before="force 2", decision=2, revision=1)


def risk_carried(log: Story) -> None:
    said(log, "bob r1")["meaning"] = log["bob r1"].fields["meaning"] = "accept_risk"
    log["carry bob"].fields["meaning"] = said(log, "force 1")["signoffs"][0]["meaning"] = "accept_risk"


def countersigned(by: str, proposer: str) -> Change:
    what: dict[str, Any] = {"kind": "waiver", "body": {}, "proposed_by": token(proposer)}
    return lambda log: log.add(
        "added", "proposal.countersigned", what, decision=2, actor=token(by), meaning="waiver", **PROVEN
    )


def second_seat(log: Story) -> None:
    log.add("two seats", "roster.seat_given", {"person": token("bob"), "lead": False}, team="networking", before="key")
    person(log, "carol d2", "bob")


def one_person(log: Story) -> None:
    quorum(log, networking=0, serving=1)
    log.drop("carol d2")
    del said(log, "force 2")["signoffs"][1]


def one_seat_of_two(log: Story) -> None:
    """Bob signs, and so does Erin, to whom he lent his seat."""
    policy = POLICY | {"teams": POLICY["teams"] | {"serving": {"title": "Serving", "quorum": 2}}}
    log.add("policy 2", "policy.set", policy, before="created 2.1")
    said(log, "created 2.1")["policy"] = content_id(policy)
    again(log, "planned 2.1")
    lend = log["lend"]
    log.acts.insert(log.seq("bob d2"), type(lend)("lend 2", lend.action, dict(lend.payload or {}), dict(lend.fields)))
    log["lend 2"].fields |= {"team": "serving", "actor": token("bob")}
    said(log, "lend 2")["in_place_of"] = token("bob")
    sign(log, "erin d2", "erin", "serving", 2, 1, before="force 2", in_place_of="bob")
    said(log, "force 2")["signoffs"].append(
        said(log, "force 2")["signoffs"][0] | {"person": token("erin"), "turn": said(log, "erin d2")["turn"]}
    )


def counted_twice(log: Story) -> None:
    said(log, "force 2")["signoffs"].append(said(log, "force 2")["signoffs"][0])


def other(label: str, name: str, value: Any) -> Change:
    """Return a change of one field of a payload."""
    return lambda log: said(log, label).__setitem__(name, value)


def field(label: str, name: str, value: Any) -> Change:
    """Return a change of one field of an entry."""
    return lambda log: log[label].fields.__setitem__(name, value)


def ended(log: Story) -> None:
    log.add("added", "delegation.ended", dict(said(log, "lend")), team="networking", before="erin r1")


BROKEN: dict[str, tuple[Change, str, str]] = {
    "an author signs": (lambda log: person(log, "bob r1", "alice"), "bob r1", "author"),
    "who uploaded the evidence signs": (other("created 1.1", "evidence_by", token("bob")), "bob r1", "author"),
    "an author signs in somebody's place": (lambda log: person(log, "erin r1", "alice"), "erin r1", "author"),
    "an author puts it into force": (field("force 2", "actor", token("alice")), "force 2", "author"),
    "somebody without a seat signs": (lambda log: person(log, "bob d2", "erin"), "bob d2", "free seat"),
    "somebody without a seat puts it into force": (field("force 2", "actor", token("erin")), "force 2", "may not"),
    "the auditor signs": (lambda log: said(log, "role bob").update(role="auditor"), "bob r1", "free seat"),
    "an expired delegation": (other("lend", "ends_at", at(12)), "erin r1", "delegation that holds"),
    "a delegation that begins later": (other("lend", "starts_at", at(40)), "erin r1", "delegation that holds"),
    "a delegation that was ended": (ended, "erin r1", "delegation that holds"),
    "a delegation that nobody gave": (lambda log: log.drop("lend"), "erin r1", "delegation that holds"),
    "a delegation by somebody without the seat": (lambda log: log.drop("seat carol"), "erin r1", "free seat"),
    "one person fills seats of two teams": (second_seat, "carol d2", "free seat"),
    "one sign-off counted twice": (counted_twice, "force 2", "counts otherwise"),
    "a seat and who it was lent to counted as two": (one_seat_of_two, "force 2", "what serving owes: 1 of 2"),
    "one person alone approves": (one_person, "force 2", "too few people"),
    "no team is asked": (lambda log: quorum(log, networking=0, serving=0), "force 1", "too few people"),
    "too few approvals": (lambda log: quorum(log, networking=1, serving=2), "force 1", "what serving owes: 1 of 2"),
    "a team is left out": (lambda log: said(log, "force 2")["requirements"].pop(), "force 2", "teams"),
    "a sign-off of another subject": (other("bob d2", "subject", file_sha256(b"x")), "bob d2", "what is newest"),
    "a sign-off of another scope": (other("bob d2", "scope", file_sha256(b"x")), "bob d2", "what is newest"),
    "a sign-off of an older revision": (field("bob d2", "revision", 7), "bob d2", "what is newest"),
    "a sign-off by somebody else": (field("bob d2", "actor", token("dave")), "bob d2", "what is newest"),
    "a sign-off by an API token": (field("bob d2", "auth_method", "token"), "bob d2", "recent proof"),
    "a sign-off on an old proof": (field("bob d2", "auth_age_s", 301), "bob d2", "recent proof"),
    "evidence is not what the subject says": (
        other("created 2.1", "evidence", file_sha256(b"x")),
        "planned 2.1",
        "parts",
    ),
    "the plan is not what the subject says": (other("planned 2.1", "plan", file_sha256(b"x")), "planned 2.1", "parts"),
    "an old policy": (old_policy, "created 1.1", "newest policy"),
    "the policy changed before the act": (lambda log: new_policy(log, "force 2"), "force 2", "counts otherwise"),
    "carried over another scope": (moved_scope, "carry bob", "what its team owns"),
    "carried over another planner": (newer_planner, "carry bob", "what its team owns"),
    "carried with another scope than signed": (other("carry bob", "scope", file_sha256(b"x")), "carry bob", "owns"),
    "carried from another subject": (other("carry bob", "from_subject", file_sha256(b"x")), "carry bob", "owns"),
    "an accepted risk carried": (risk_carried, "carry bob", "what its team owns"),
    "carried though nobody signed": (lambda log: log.drop("bob r1"), "carry bob", "has to: ('serving', 'sha256:"),
    "a stale sign-off counted": (lambda log: log.drop("carry bob"), "force 1", "counts otherwise"),
    "a sign-off taken back counted": (withdrawn, "force 2", "counts otherwise"),
    "one counted that is to be given again": (
        before_force("re_review.asked", {"teams": ["serving"]}, decision=2, revision=1),
        "force 2",
        "counts otherwise",
    ),
    "a signer who left counted": (
        before_force("roster.removed", {"person": token("bob")}),
        "force 2",
        "counts otherwise",
    ),
    "a signer whose account is closed counted": (
        before_force("roster.account_closed", {"person": token("bob")}),
        "force 2",
        "counts otherwise",
    ),
    "a signer without the seat counted": (
        before_force("roster.seat_taken", {"person": token("bob")}, team="serving"),
        "force 2",
        "counts otherwise",
    ),
    "one given before a waiver counted": (waived, "force 2", "counts otherwise"),
    "evidence that is too old": (other("planned 2.1", "evidence_until", at(3)), "force 2", "counts otherwise"),
    "an objection left out": (lambda log: objected(log, "object"), "force 2", "counts otherwise"),
    "requested changes left out": (lambda log: objected(log, "request_changes"), "force 2", "counts otherwise"),
    "a condition that is not met": (
        other("bob d2", "points", [{"kind": "condition", "text": "Rerun."}]),
        "force 2",
        "what serving owes",
    ),
    "an open thread that blocks": (opened, "force 2", "what serving owes"),
    "an older revision put into force": (field("force 1", "revision", 1), "force 1", "not newest"),
    "one person proposes and countersigns": (countersigned("bob", "bob"), "added", "one person"),
    "an author countersigns": (countersigned("alice", "bob"), "added", "author"),
    "another key announced than the one that signs": (other("key", "key", "another+key"), "superseded", "another key"),
    "an act that says nothing": (field("force 2", "decision", 9), "force 2", "does not say"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_rule_that_was_not_kept_is_found_at_its_entry(name: str) -> None:
    change, label, reason = BROKEN[name]
    log = sound_story()
    change(log)
    code, headline, seq, _ = verify(io.BytesIO(written(content(log, with_statements=False))), [KEY])
    assert (code, seq) == (1, log.seq(label)), headline
    assert headline.startswith(f"BROKEN at seq {seq}: ")
    assert (reason in headline, "Error" in headline) == (True, False)


def more_acts(log: Story) -> None:
    """Go on after the story: a third decision that is signed anew, taken back, settled and carried on."""
    revise(log, 3, 1)
    points = [{"kind": "condition", "text": "Rerun."}, {"kind": "follow_up", "text": "Later."}]
    sign(log, "bob d3", "bob", "serving", 3, 1, points=points)
    log.add("settled", "point.settled", {"signer": token("bob"), "turn": 1, **points[0]}, **OF_BOB | {"decision": 3})
    sign(log, "carol d3", "carol", "networking", 3, 1)
    log.add("back", "signoff.withdrawn", {"turn": 1}, decision=3, revision=1, team="networking", actor=token("carol"))
    sign(log, "carol d3 2", "carol", "networking", 3, 1, turn=2)
    thread = {"thread": 1, "comment": 1, "text": "Why?", "opens": {"team": "serving", "blocking": True}}
    log.add("opened", "comments.published", {"comments": [thread]}, decision=3)
    log.add("resolved", "thread.resolved", {"thread": 1}, decision=3, team="serving")
    revise(log, 3, 2)
    carry(log, "carry d3", "bob d3", "planned 3.2")
    sign(log, "carol r2", "carol", "networking", 3, 2)
    activate(log, "force 3", "dave", 3, 2, [("bob d3", "CARRIED"), ("carol r2", "CURRENT")])
    # What is superseded is asked for nothing more, but its sign-offs may still be taken back.
    log.add("late", "signoff.withdrawn", {"turn": 1}, decision=1, revision=1, team="serving", actor=token("bob"))


@pytest.mark.parametrize("change", [lambda log: None, more_acts], ids=["the story", "the story goes on"])
def test_a_log_that_keeps_the_rules_is_verified(change: Change) -> None:
    log = sound_story()
    change(log)
    bundle = io.BytesIO(written(content(log)))
    code, headline, seq, unchecked = verify(bundle, [KEY])
    assert (code, seq) == (0, None), headline
    assert headline.startswith(
        f"VERIFIED: {len(log.acts)} entries of topogate/lab/0123456789abcdef, signed by keys that you"
    )
    assert unchecked == UNCHECKED
    assert verify(bundle)[0] == 3


def test_what_older_logs_do_not_record_is_said_not_to_be_checked() -> None:
    log = sound_story()
    for label in ("created 2.1", "planned 2.1"):
        for name in ("author", "contract_by", "evidence_by", "scopes", "evidence_until"):
            said(log, label).pop(name, None)
    code, headline, _, _ = verify(io.BytesIO(written(content(log))), [KEY])
    assert code == 0
    assert headline.endswith("entries without scope or uploader: 2.")
