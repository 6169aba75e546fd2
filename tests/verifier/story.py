"""A small log as a list of acts that tests change before it is hashed and signed, without a database.

alice is the author; bob and dave sign for serving, carol for networking; carol lends her seat to erin. D-0001 has two
revisions, whose sign-offs are carried, and is put into force by dave; D-0002 is signed as it is and supersedes it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from planner.canonical import canonical_bytes, content_id, file_sha256

ORIGIN = "topogate/lab/0123456789abcdef"
START = datetime(2026, 9, 21, 12, tzinfo=UTC)
POLICY: dict[str, Any] = {
    "schema": "topogate.policy/v1",
    "teams": {"networking": {"title": "Networking", "quorum": 1}, "serving": {"title": "Serving", "quorum": 1}},
    "identity_owners": {},
    "gate_owners": {},
    "fallback_owner": "serving",
}
PLAN: dict[str, Any] = {
    "decision": "SELECT_TOPOLOGY",
    "selected": {"trial": "t-1", "topology": "tp1"},
    "candidates": {
        "t-1": {
            "trial_content_id": "sha256:" + "11" * 32,
            "topology": "tp1",
            "state": "ELIGIBLE",
            "failing": [],
            "unknown": ["ttft"],
            "gates": {
                "throughput": {"outcome": "PASS"},
                "ttft": {"outcome": "UNKNOWN"},
                "cost": {"outcome": "NOT_DECLARED"},
            },
        }
    },
}
PARTS = ("contract", "evidence", "identity", "planner_version", "policy")


def token(name: str) -> str:
    """Return what stands for a person."""
    return file_sha256(name.encode())


def document(name: str, says: dict[str, Any] | None = None) -> bytes:
    """Return the bytes of a document of the story."""
    return canonical_bytes({"document": name} | (says or {}))


@dataclass
class Act:
    """An entry to be; ``label`` names it in tests."""

    label: str
    action: str
    payload: dict[str, Any] | None = None
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass
class Story:
    """Acts in order. ``documents`` are the files that entries name, by digest."""

    acts: list[Act] = field(default_factory=list)
    documents: dict[str, bytes] = field(default_factory=dict)

    def __getitem__(self, label: str) -> Act:
        return self.acts[self.seq(label)]

    def seq(self, label: str) -> int:
        """Return where an act stands."""
        return next(at for at, act in enumerate(self.acts) if act.label == label)

    def add(
        self, label: str, action: str, payload: dict[str, Any] | None = None, *, before: str = "", **fields: Any
    ) -> Act:
        """Add an act at the end, or before another one."""
        act = Act(label, action, payload, fields)
        self.acts.insert(self.seq(before) if before else len(self.acts), act)
        return act

    def drop(self, label: str) -> None:
        """Leave an act out."""
        del self.acts[self.seq(label)]

    def subject(self, label: str) -> str:
        """Give a planned revision the subject that its parts have, and return it."""
        planned = self[label]
        created = next(
            act
            for act in self.acts
            if act.action == "revision.created"
            and (act.fields["decision"], act.fields["revision"])
            == (planned.fields["decision"], planned.fields["revision"])
        )
        assert created.payload is not None
        assert planned.payload is not None
        parts = {part: created.payload[part] for part in PARTS}
        planned.fields["subject"] = content_id(parts | {"plan": planned.payload["plan"]})
        return str(planned.fields["subject"])

    def entries(self, origin: str = ORIGIN) -> Iterator[tuple[bytes, bytes | None]]:
        """Yield the bytes of every entry and of its payload."""
        prev = "sha256:" + "0" * 64
        for seq, act in enumerate(self.acts):
            line, payload = self.entry(act, seq, prev, origin)
            prev = file_sha256(line)
            yield line, payload

    def entry(self, act: Act, seq: int, prev: str, origin: str = ORIGIN) -> tuple[bytes, bytes | None]:
        """Return the bytes of one act's entry and payload."""
        payload = None if act.payload is None else canonical_bytes(act.payload)
        return canonical_bytes(self._fields(act, seq, prev, origin, payload)), payload

    def _fields(self, act: Act, seq: int, prev: str, origin: str, payload: bytes | None) -> dict[str, Any]:
        names = ("actor", "decision", "meaning", "reason", "revision", "subject", "team")
        return {
            **dict.fromkeys(names),
            "v": 1,
            "origin": origin,
            "seq": seq,
            "prev": prev,
            "at": at(seq),
            "action": act.action,
            "auth_method": None,
            "auth_age_s": None,
            "request_id": None,
            "payload_type": None if payload is None else "topogate.test/v1",
            "payload_sha256": None if payload is None else file_sha256(payload),
            **act.fields,
        }


def at(seq: int) -> str:
    """Return the time of an entry."""
    return (START + timedelta(minutes=seq)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


PROVEN: dict[str, Any] = {"auth_method": "password", "auth_age_s": 20}


def story(key: str) -> Story:
    """Return the whole log; ``key`` is the public key that signs it."""
    log = Story()
    log.add("begin", "workspace.created", reason="Lab")
    log.add("policy", "policy.set", POLICY)
    for name, role, team in (
        ("alice", "author", ""),
        ("bob", "member", "serving"),
        ("carol", "member", "networking"),
        ("dave", "member", "serving"),
        ("erin", "member", ""),
    ):
        log.add(f"role {name}", "roster.role_set", {"person": token(name), "role": role})
        if team:
            log.add(f"seat {name}", "roster.seat_given", {"person": token(name), "lead": False}, team=team)
    log.add("key", "log.key_set", {"key": key, "previous": None})
    lent = {"person": token("erin"), "in_place_of": token("carol"), "starts_at": at(0), "ends_at": at(60)}
    log.add("lend", "delegation.made", lent, team="networking", actor=token("carol"), **PROVEN)
    revise(log, 1, 1)
    sign(log, "bob r1", "bob", "serving", 1, 1)
    sign(log, "erin r1", "erin", "networking", 1, 1, in_place_of="carol")
    revise(log, 1, 2)
    carry(log, "carry bob", "bob r1", "planned 1.2")
    carry(log, "carry erin", "erin r1", "planned 1.2")
    activate(log, "force 1", "dave", 1, 2, [("bob r1", "CARRIED"), ("erin r1", "CARRIED")])
    revise(log, 2, 1)
    sign(log, "bob d2", "bob", "serving", 2, 1)
    sign(log, "carol d2", "carol", "networking", 2, 1)
    activate(log, "force 2", "dave", 2, 1, [("bob d2", "CURRENT"), ("carol d2", "CURRENT")])
    log.add("superseded", "decision.superseded", {"by": 2, "slot": "own/slot"}, decision=1, actor=token("dave"))
    return log


def revise(log: Story, decision: int, revision: int, **changes: Any) -> None:
    """Add a revision and its plan."""
    name = f"{decision}.{revision}"
    files = {f"{kind}_file_sha256": document(f"{kind} {name}") for kind in ("contract", "evidence")}
    plan = document(f"plan {name}", PLAN)
    log.documents |= {file_sha256(raw): raw for raw in (*files.values(), plan)}
    created = {
        "title": "One device",
        "slot": "own/slot",
        "identity": file_sha256(b"identity"),
        "policy": content_id(POLICY),
        "planner_version": "1.2.0",
        "as_of": "2026-09-21T12:00:00Z",
        **{by: token("alice") for by in ("author", "contract_by", "evidence_by")},
        **{field: file_sha256(raw) for field, raw in files.items()},
        **{kind: file_sha256(files[f"{kind}_file_sha256"]) for kind in ("contract", "evidence")},
    }
    about: dict[str, Any] = {"decision": decision, "revision": revision}
    log.add(f"created {name}", "revision.created", created | changes, actor=token("alice"), **about)
    planned = {
        "plan": file_sha256(plan),
        "plan_sha256": file_sha256(plan),
        "planner_version": created["planner_version"],
        "decision": "SELECT_TOPOLOGY",
        "topology": "tp1",
        "evidence_until": at(600),
        "scopes": {team: {"digest": file_sha256(team.encode()), "is_touched": True} for team in POLICY["teams"]},
    }
    log.add(f"planned {name}", "revision.planned", planned, **about)
    log.subject(f"planned {name}")


def sign(log: Story, label: str, who: str, team: str, decision: int, revision: int, **changes: Any) -> Act:
    """Add a sign-off at the end, or ``before`` another act."""
    before, giver = changes.pop("before", ""), changes.pop("in_place_of", "")
    subject = log[f"planned {decision}.{revision}"].fields["subject"]
    said = {
        "subject": subject,
        "scope": file_sha256(team.encode()),
        "team": team,
        "meaning": "approve",
        "statement": "The margins hold.",
        "person": token(who),
        "turn": 1,
        "at": at(log.seq(before) if before else len(log.acts)),
        "displayed": "{}",
        **({"in_place_of": token(giver)} if giver else {}),
        **changes,
    }
    about: dict[str, Any] = {
        "decision": decision,
        "revision": revision,
        "subject": subject,
        "team": team,
        "meaning": said["meaning"],
    }
    return log.add(label, "signoff.given", said, before=before, actor=token(who), **about, **PROVEN)


def carry(log: Story, label: str, signoff: str, planned: str) -> Act:
    """Carry a sign-off to a later revision."""
    given, target = log[signoff], log[planned].fields
    assert given.payload is not None
    said = {
        "person": given.payload["person"],
        "turn": 1,
        "scope": given.payload["scope"],
        "from_revision": given.fields["revision"],
        "from_subject": given.fields["subject"],
        "to_revision": target["revision"],
        "to_subject": target["subject"],
    }
    about: dict[str, Any] = {name: target[name] for name in ("decision", "revision", "subject")}
    return log.add(label, "signoff.carried", said, team=given.fields["team"], meaning=given.fields["meaning"], **about)


def counted(log: Story, signoff: str, status: str) -> dict[str, Any]:
    """Return what an activation says of a sign-off that it counts."""
    given = log[signoff]
    assert given.payload is not None
    said = {name: given.payload[name] for name in ("team", "person", "meaning", "turn", "subject", "scope")}
    return said | {"revision": given.fields["revision"], "status": status}


def activate(log: Story, label: str, who: str, decision: int, revision: int, counts: list[tuple[str, str]]) -> Act:
    """Put a revision into force."""
    said = {
        "kind": "review",
        "trial": "t-1",
        "topology": "tp1",
        "rollback": "none",
        "activated_at": at(len(log.acts)),
        "valid_until": at(600),
        "requirements": [
            {"team": team, "quorum": 1, "approvals": 1, "status": "SATISFIED", "because": "Approved."}
            for team in sorted(POLICY["teams"])
        ],
        "signoffs": [counted(log, signoff, status) for signoff, status in counts],
        "authors": [token("alice")],
    }
    about: dict[str, Any] = {
        "decision": decision,
        "revision": revision,
        "subject": log[f"planned {decision}.{revision}"].fields["subject"],
    }
    return log.add(label, "decision.activated", said, actor=token(who), reason="Rolled out.", **about, **PROVEN)
