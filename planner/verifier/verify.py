#!/usr/bin/env python3
"""Checks a bundle that Topogate exported, without Topogate: takes Python 3.11 and ``cryptography``, nothing else.
Exit 0 VERIFIED: all holds and is signed by keys that you gave. 3 CONSISTENT ONLY: all holds, but the keys came with
the bundle. 1 BROKEN: what is wrong, and at which entry. 2 INCOMPLETE: something is missing or cannot be read."""
import argparse, io, json, re, zipfile, zlib  # Laid out by hand: five parts, to be read in one sitting.
from base64 import b64decode
from collections.abc import Collection, Iterator, Sequence
from hashlib import sha256
from typing import Any, BinaryIO
try: import cryptography.exceptions as lib, cryptography.hazmat.primitives.asymmetric.ed25519 as ed25519
except ImportError: argparse.ArgumentParser().exit(2, "INCOMPLETE: the package cryptography is not installed.\n")
VERIFIED, BROKEN, INCOMPLETE, CONSISTENT = range(4)
WORDS, FLAT = ("VERIFIED", "BROKEN", "INCOMPLETE", "CONSISTENT ONLY"), {str, int, type(None)}
COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode  # RFC 8785 without doubles
Tree = dict[str, Any]  # a JSON object
BAD = (ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError, RuntimeError, TypeError,
       ValueError, zipfile.error, zlib.error)  # what reading values that are not as they have to be raises
class Fault(Exception): """Its arguments: what is wrong, at which entry (None: at no one), the exit code."""
def meaning(e: BaseException) -> str:  # a lookup of a key that is no text is one of something that nothing told of
    return f"{e!s:.80} is missing or doubled" if str(e)[:1] == "'" and type(e) is KeyError else "a part is malformed"
def require(holds: object, text: str, seq: int | None = None, code: int = BROKEN) -> None:
    if not holds: raise Fault(text, seq, code)
STRICT = json.JSONDecoder(parse_constant=int, object_pairs_hook=lambda pairs: (  # raises at NaN, and at a key twice
    dict(pairs) if len(dict(pairs)) == len(pairs) else Tree()["a key"])).decode
# 1. The container: a zip archive, bounded before anything is unpacked; its comment is a signature over all before it.
MAX_FILES, MAX_DIRECTORY, MAX_BYTES, MAX_RATIO, MAX_LINE = 60_000, 1 << 24, 1 << 32, 400, 1 << 24
NAME = re.compile(r"(?:[a-z]+/)?[A-Za-z0-9-]+(?:\.[a-z0-9]+)+")
class Bundle:
    def __init__(self, file: BinaryIO) -> None:
        self.file, self.size = file, file.seek(0, io.SEEK_END) - 64
        _, pre, end, self.signature = file.seek(max(0, self.size - 42)), file.read(20)[:4], file.read(22), file.read(64)
        require(end[:4] == b"PK\5\6" and end[20:] == b"\x40\0", "it is no bundle, or was cut off", None, INCOMPLETE)
        count, length = int.from_bytes(end[10:12], "little"), int.from_bytes(end[12:16], "little")
        require(count <= MAX_FILES and length <= MAX_DIRECTORY and pre != b"PK\6\7", "there are too many files")
        self.zip = zipfile.ZipFile(file)
        infos, self.names = self.zip.infolist(), set(self.zip.namelist())
        strange = [one.filename for one in infos if not NAME.fullmatch(one.filename) or one.compress_type not in (0, 8)]
        require(not strange and len(self.names) == count, f"the archive has files that no bundle has: {strange[:3]}")
        total = sum(one.file_size for one in infos)
        require(total <= min(MAX_BYTES, MAX_RATIO * self.size), f"the archive would unpack to {total:,} bytes")
    def read(self, name: str, by_line: bool = True) -> Iterator[bytes]:
        require(name in self.names, f"{name} is missing", None, INCOMPLETE)
        with self.zip.open(name) as raw, io.BufferedReader(raw, 1 << 20) as stream:  # type: ignore[type-var] # it reads
            while part := stream.readline(MAX_LINE) if by_line else stream.read(MAX_LINE):
                if by_line and part[-1] != 10: raise Fault(f"a line of {name} has no end", None, INCOMPLETE)
                yield part[:-1] if by_line else part
    def digest(self) -> bytes:
        digest, _ = sha256(b"topogate.bundle/v1\n"), self.file.seek(0)
        for at in range(0, self.size, 1 << 20): digest.update(self.file.read(min(1 << 20, self.size - at)))
        return digest.digest()
# 2. Signatures by keys that are written name+id+base64 of a byte 1 and an Ed25519 key (C2SP signed-note).
def signers_of(keys: Sequence[str], message: bytes, signatures: Sequence[bytes]) -> list[str]:
    def signed(key: str, signature: bytes) -> bool:
        try: ed25519.Ed25519PublicKey.from_public_bytes(b64decode(key.split("+", 2)[2])[1:]).verify(signature, message)
        except lib.InvalidSignature: return False
        return True
    return [key for key in keys if any(signed(key, signature) for signature in signatures)]
CHECKPOINT = re.compile(r"[!-~]+\n(?:0|[1-9][0-9]{0,15})\n[+/-9A-Za-z]{43}=")
def checkpoint_of(raw: bytes, keys: Sequence[str]) -> tuple[int, bytes, str, list[str]]:  # size, root, origin, signers
    text, _, block = raw.decode().rpartition("\n\n")
    require(CHECKPOINT.fullmatch(text), "a checkpoint cannot be read", None, INCOMPLETE)
    (origin, size, root), mine = text.split("\n"), [key for key in keys if key.startswith(f"{text.split()[0]}+")]
    blobs = [b64decode(line.split(" ")[2])[4:] for line in block.splitlines() if line.startswith(f"— {origin} ")]
    return int(size), b64decode(root), origin, signers_of(mine, f"{text}\n".encode(), blobs)
# 3. The log: entries, in quotes leaf hashes of others, and payloads in the same order; Merkle tree (RFC 9162).
def root_of(row: list[bytes]) -> bytes:
    while len(row) > 1:  # the last one of an odd number stays as it is
        row = [sha256(b"\1" + a + b).digest() for a, b in zip(*[iter(row)] * 2, strict=False)] + row[len(row) & -2 :]
    return row[0]
def chained(lines: Iterator[bytes], leaves: list[bytes], root: bytes = b"", prev: bytes = b"0" * 64) -> Iterator[bytes]:
    for seq, line in enumerate(lines):
        if line[:1] == b'"':
            require(re.fullmatch(rb'"[0-9a-f]{64}"', line), "is no leaf hash", seq)
            prev, leaf = b"", bytes.fromhex(line[1:65].decode())
        else:  # quotes inside of texts are escaped, so what is searched for can only be the fields themselves
            mine = sha256(line).hexdigest().encode()
            if prev and b',"prev":"sha256:%b",' % prev not in line:  # if this one is as it was, the one before is not
                healed = sha256(b"\0" + re.sub(rb'(?<=,"prev":"sha256:)[^"]*', prev, line, count=1)).digest()
                is_sound = mine in after if (after := next(lines, b"")) else root_of([*leaves, healed]) != root
                raise Fault("is not the entry that the others follow", seq - (b',"seq":%d,' % seq in line and is_sound))
            prev, leaf = mine, sha256(b"\0" + line).digest()
        leaves.append(leaf)
        yield line
def replay(rules: "Rules", lines: Iterator[bytes], payloads: Iterator[bytes], origin: str, leaves: list[bytes]) -> None:
    for seq, line in enumerate(chained(lines, leaves, rules.root)):
        if line[:1] == b'"': rules.hidden += 1; continue
        try:
            e = json.loads(line.decode())
            require(e["v"] == 1, "was written by a later version: take its verify.py", seq, INCOMPLETE)
            require({*map(type, e.values())} <= FLAT and COMPACT(e).encode() == line, "is not in its only form", seq)
            require((e["origin"], e["seq"]) == (origin, seq), "belongs to another place or log", seq)
            p = next(payloads, b"") if e["payload_sha256"] else b"{}"
            same = e["payload_sha256"] in (None, "sha256:" + sha256(p).hexdigest())
            require(same, "has not the payload that it names", seq, BROKEN if p else INCOMPLETE)
            rules.apply(e, STRICT(p.decode()))
        except BAD as error: raise Fault(f"does not say what an entry has to: {meaning(error)}", seq) from error
    require(next(payloads, None) is None, "a payload belongs to no entry")
# 4. The rules of reviewing: who signs, what counts, what is carried, what is put into force.
ROLES, SAID = ("member", "author"), "seq team person meaning revision turn subject scope status".split()
PROOFS, APPROVING = ("passkey", "totp", "password"), ("approve", "approve_with_conditions", "accept_risk")
class Rules:
    def __init__(self) -> None:
        self.roles, self.policies, self.decisions = dict[str, str](), dict[str, Tree](), dict[int, Tree]()
        self.seats, self.closed, self.lent = set[tuple[str, str]](), set[str](), list[tuple[Any, ...]]()
        self.reviews, self.plans, self.documents = dict[Any, Tree](), dict[str, Tree](), dict[str, int]()
        self.policy, self.key, self.root, self.hidden, self.older, self.absent = "", "", b"", 0, 0, 0
    def apply(self, e: Tree, p: Tree) -> None:  # an entry, its payload; d: what is known of its decision
        d: Tree = self.decisions.setdefault(e["decision"] or 0, {
            "authors": set(), "revisions": {}, "newest": 0, "signs": [], "waivers": [], "blocked": set(), "again": {}})
        who, lent = str(p.get("person")), (e["team"], *map(p.get, ("person", "in_place_of", "starts_at", "ends_at")))
        match e["action"]:
            case "decision.superseded" | "decision.withdrawn" | "decision.rejected":  # final: no more is asked of it
                for r in d["revisions"].values(): r["scopes"], d["signs"] = None, []
            case "log.key_set": self.key = p["key"]
            case "policy.set": self.policy, self.policies[e["payload_sha256"]] = e["payload_sha256"], p
            case "roster.role_set": self.roles[who] = p["role"]
            case "roster.removed": self.roles.pop(who)
            case "roster.account_closed": self.closed.add(who)
            case "roster.account_opened": self.closed.discard(who)
            case "roster.seat_given": self.seats.add((who, e["team"]))
            case "roster.seat_taken": self.seats.discard((who, e["team"]))
            case "delegation.made": self.lent.append(lent)
            case "delegation.ended": self.lent.remove(lent)
            case "revision.created": self.create(e, p, d)
            case "revision.planned" | "signoff.given" | "signoff.withdrawn" if not d["newest"]: self.older += 1
            case "revision.planned": self.plan(e, p, d["revisions"][e["revision"]])
            case "signoff.given": self.sign(e, p, d, {who, p.get("in_place_of", who)})
            case "signoff.carried": self.carry(e, p, d, self.given(d, e, p, who, p["from_revision"]))
            case "signoff.withdrawn" if d["signs"]: self.given(d, e, p, p.get("signer", e["actor"]))["gone"] = True
            case "point.settled" if d["signs"]: self.given(d, e, p, p["signer"])["open"].discard((p["kind"], p["text"]))
            case "re_review.asked": d["again"] |= dict.fromkeys(p["teams"], e["seq"])
            case "comments.published": d["blocked"] |= {
                (o["thread"], o["opens"]["team"]) for o in p["comments"] if "opens" in o and o["opens"]["blocking"]}
            case "thread.resolved": d["blocked"].discard((p["thread"], e["team"]))
            case "waiver.granted": d["waivers"].append((e["seq"], p["ends_at"]))
            case "proposal.countersigned": self.proven(e, d, [e["actor"], p["proposed_by"]])
            case "decision.activated": self.activate(e, p, d, d["revisions"][d["newest"]])
    def able(self, who: str | None, team: str) -> bool:
        return self.roles.get(str(who)) in ROLES and who not in self.closed and (not team or (who, team) in self.seats)
    def proven(self, e: Tree, d: Tree, people: Collection[str]) -> None:
        recent = e["auth_method"] in PROOFS and e["auth_age_s"] is not None and e["auth_age_s"] <= 300
        require(recent, "is done without a recent proof of who does it", e["seq"])
        require(len({*people}) == len(people), "is proposed and countersigned by one person", e["seq"])
        require(not {*people} & d["authors"], "is done by an author of the decision, or in their place", e["seq"])
    def given(self, d: Tree, e: Tree, p: Tree, who: str | None, revision: int | None = None) -> Any:
        key = (e["team"], who, p["turn"], revision or e["revision"])
        return {(s["team"], s["person"], s["turn"], s["revision"]): s for s in d["signs"]}[key]
    def create(self, e: Tree, p: Tree, d: Tree) -> None:
        require(e["revision"] > d["newest"] and p["policy"] == self.policy, "is not under the newest policy", e["seq"])
        d["newest"], d["revisions"][e["revision"]], self.older = e["revision"], p, self.older + ("author" not in p)
        d["authors"] |= {p.get(by, e["actor"]) for by in ("author", "contract_by", "evidence_by")}
        for name in ("contract_file_sha256", "evidence_file_sha256"): self.documents.setdefault(p[name], e["seq"])
    def plan(self, e: Tree, p: Tree, r: Tree) -> None:
        parts = {part: r.get(part) for part in ("contract", "evidence", "identity", "planner_version", "policy")}
        subject = "sha256:" + sha256(COMPACT(parts | {"plan": p["plan"]}).encode()).hexdigest()
        require(subject == e["subject"], "names a subject that is not made of its parts", e["seq"])
        r |= {name: p.get(name) for name in ("plan_sha256", "scopes", "evidence_until")} | {"subject": e["subject"]}
        self.older, _ = self.older + ("scopes" not in p), self.documents.setdefault(p["plan_sha256"], e["seq"])
        self.plans.setdefault(p["plan_sha256"], {}).setdefault(e["subject"], []).append(r)
    def sign(self, e: Tree, p: Tree, d: Tree, people: set[str]) -> None:
        r, team, who, giver = d["revisions"][d["newest"]], p["team"], p["person"], p.get("in_place_of")
        self.proven(e, d, people)
        scope = (r["scopes"] or {team: {"digest": p["scope"]}})[team]["digest"]
        said = (e["actor"], e["team"], e["revision"], e["subject"], p["subject"], p["scope"])
        now = (who, team, d["newest"], r["subject"], r["subject"], scope)
        require(said == now, "signs something else than what is newest", e["seq"])
        lent = any(one[:3] == (team, who, giver) and one[3] <= p["at"] < one[4] for one in self.lent)
        seated = self.able(giver, team) and self.able(who, "") and lent if giver else self.able(who, team)
        taken = any(s["person"] in people and s["team"] != team and not s["gone"] for s in d["signs"])
        require(seated and not taken, "is signed without a free seat, or a delegation that holds", e["seq"])
        d["signs"].append(p | {"seq": e["seq"], "revision": d["newest"], "people": people, "carried": 0, "carry": None,
            "gone": False, "open": {(o["kind"], o["text"]) for o in p.get("points", ()) if o["kind"] == "condition"}})
    def carry(self, e: Tree, p: Tree, d: Tree, s: Tree) -> None:
        r, since = d["revisions"][d["newest"]], (s["carried"] or s["revision"])
        stood = [v for n, v in d["revisions"].items() if n >= since and "subject" in v]
        scopes = {v["scopes"].get(s["team"], {}).get("digest") for v in stood if v["scopes"]} | {p["scope"]}
        same = scopes == {s["scope"]} and len({(v["policy"], v["planner_version"]) for v in stood}) == 1
        now = (e["revision"], e["subject"], p["from_subject"]) == (d["newest"], r["subject"], s["subject"])
        stays = s["meaning"] == "object" or (same and s["meaning"] != "accept_risk")
        require(stays and now, "carries a sign-off over what its team owns", e["seq"])
        s["carried"], s["carry"] = d["newest"], e["seq"]
    def status(self, s: Tree, d: Tree, at: str, seq: int) -> str:  # empty: it says nothing of the newest any more
        r, again = d["revisions"][d["newest"]], d["again"].get(s["team"], -1) > s["seq"]
        later = [o for o in d["signs"] if (o["team"], o["person"]) == (s["team"], s["person"]) and o["seq"] > s["seq"]]
        able = self.able(s["person"], "") and self.able(s.get("in_place_of", s["person"]), s["team"])
        now, then = ({w for w, end in d["waivers"] if w < q and end > t} for q, t in ((seq, at), (s["seq"], s["at"])))
        here, until = s["subject"] == r["subject"], r["evidence_until"] or at
        fresh = r["policy"] == self.policy and until >= at and now == then
        stands = able and fresh and not again and (here or (s["carried"] == d["newest"] and not later))
        holds = s["meaning"] == "object" or (stands and not s["people"] & d["authors"])
        again = any(o["revision"] == s["revision"] for o in later)
        return "" if s["gone"] or again or not holds else "CURRENT" if here else "CARRIED"
    def activate(self, e: Tree, p: Tree, d: Tree, r: Tree) -> None:
        self.proven(e, d, {e["actor"]})
        policy, seq, quorums = self.policies[r["policy"]], e["seq"], dict[str, int]()
        may = any(self.able(e["actor"], team) for team in policy.get("duties", {}).get("release") or policy["teams"])
        newest = (e["revision"], e["subject"]) == (d["newest"], r["subject"])
        require(may and newest, "puts into force what is not newest, or by somebody who may not", seq)
        counting = [s | {"status": status} for s in d["signs"] if (status := self.status(s, d, e["at"], seq))]
        rows, said = [{name: s[name] for name in SAID[1:]} for s in counting], p["signoffs"]
        wrong = sorted({*map(COMPACT, said)} ^ {*map(COMPACT, rows)})
        require(not wrong and len(rows) == len(said), f"counts otherwise than the log: {wrong[:1]}", seq)
        approving = [s for s in counting if s["meaning"] in APPROVING]
        for row in p["requirements"]:
            team, mine = row["team"], [s for s in counting if s["team"] == row["team"]]
            touched = r["scopes"][team]["is_touched"] if r["scopes"] else row["status"] != "NOT_APPLICABLE"
            quorums[team] = quorum = policy["teams"][team]["quorum"] if touched else 0
            given = sum(all(s["people"].isdisjoint(o["people"]) for o in mine[:n]) for n, s in enumerate(mine))
            against = [s for s in mine if s["meaning"] == "object" or (quorum and (s["open"] or s not in approving))]
            free = given >= quorum and not against and team not in dict(d["blocked"]).values()
            require(free, f"lacks what {team} owes: {given} of {quorum}", seq)
        enough = any(quorums.values()) and len({s["person"] for s in approving}) > 1
        require(enough and quorums.keys() == policy["teams"].keys(), "rests on too few people or teams", seq)
        facts = {n: (r | e)[n] for n in "decision revision slot policy planner_version".split()}
        self.reviews[seq, r["plan_sha256"], e["subject"]] = facts | {
            "predicateType": "urn:topogate:predicate:topology-review:v1", "log": e["origin"], "entry": seq,
            "authors": sorted(d["authors"]), "approvals": [{name: s[name] for name in SAID} for s in approving],
            "carries": [s["carry"] for s in approving if s["carry"]], "quorum": quorums}
def told(plan: Tree, about: str, of: Tree, says: Tree) -> Tree:  # what a statement on a trial, or a subject, has to say
    trials = [one for one in plan["candidates"].values() if one["trial_content_id"] == about]
    chosen = [plan["candidates"][plan["selected"]["trial"]]] if plan["decision"] == "SELECT_TOPOLOGY" else []
    gates = {gate: said["outcome"] for one in trials or chosen for gate, said in one["gates"].items()}
    good, bad = ([gate for gate in gates if gates[gate] in by] for by in (("PASS",), ("FAIL", "UNKNOWN")))
    setups = [[{"name": n, "digest": {"sha256": r[f"{n}_file_sha256"][7:]}} for n in ("contract", "evidence")] + [
        {"name": "planner", "uri": f"urn:topogate:planner:{r['planner_version']}"}] for rs in of.values() for r in rs]
    if trials: return {"predicateType": "https://in-toto.io/attestation/test-result/v0.1", "passedTests": good,
                       "failedTests": bad, "warnedTests": [], "result": "FAILED" if bad else "PASSED",
                       "configuration": setup if (setup := says.get("configuration")) in setups else setups[0]}
    return {"predicateType": "https://slsa.dev/verification_summary/v1", "resourceUri": "urn:topogate:slot:" + re.sub(
                rb"[^\w.~-]", lambda sign: b"%%%02X" % ord(sign[0]), r["slot"].encode()).decode(),  # RFC 3986
            "policy": {"uri": "urn:topogate:policy", "digest": {"sha256": r["policy"][7:]}},
            "verifier": {"id": "urn:topogate:planner", "version": {"topogate": r["planner_version"]}},
            "verifiedLevels": [f"TOPO_GATE_{gate.upper()}" for gate in good] if chosen else ["FAILED"],
            "verificationResult": "PASSED" if chosen else "FAILED"} if (r := of.get(about, [{}])[0]) else {"subject": 0}
# 5. All of it, for a reader who trusts the keys ``pinned`` and kept the checkpoints ``olds``.
Result = tuple[int, str, int | None, list[str]]  # exit code, headline, entry, what was not checked
def verify(file: BinaryIO, pinned: Sequence[str] = (), olds: Sequence[bytes] = ()) -> Result:
    rules, leaves, seq, good, shown, code = Rules(), list[bytes](), None, 0, "", VERIFIED if pinned else CONSISTENT
    try:
        bundle = Bundle(file)
        keys = pinned or [line.decode() for line in bundle.read("log/keys.txt")]
        newest = next(bundle.read("log/newest.checkpoint", False), b"")
        (_, rules.root, origin, signers), *_ = points = [checkpoint_of(note, keys) for note in (newest, *olds)]
        require(all(by for *_, by in points), "signed by none of the keys (after a change of keys give old and new)")
        replay(rules, bundle.read("log/entries.jsonl"), bundle.read("log/payloads.jsonl"), origin, leaves)
        require(leaves, "there is no entry", None, INCOMPLETE)
        for size, root, name, _ in sorted(points):
            require(name == origin and size <= len(leaves), f"{size:,} entries were signed once", len(leaves))
            require(root_of(leaves[:size]) == root, f"entries {good:,} to {size - 1:,} are not as signed", good)
            good = size
        require(good == len(leaves), "no checkpoint covers the entries from here on", good)
        require(rules.key in signers, "the log names another key than the one that signed it", good - 1)
        named = {f"documents/{digest[7:]}.json": seq for digest, seq in rules.documents.items()}
        for name in sorted({*named, *(name for name in bundle.names if re.match("documents/|files/", name))}):
            content = sha256()
            for block in bundle.read(name, False): content.update(block)
            require(f"/{content.hexdigest()}." in name, f"{name} has another digest", named.get(name))
        found: Tree = {"schema": "topogate.bundle/v1", "entries": good, "hashes": rules.hidden, "statements": 0}
        for found["statements"], dsse in enumerate(map(STRICT, map(bytes.decode, bundle.read("statements.jsonl"))), 1):
            kind, body = dsse["payloadType"].encode(), b64decode(dsse["payload"])
            signatures, statement = [b64decode(one["sig"]) for one in dsse["signatures"]], STRICT(body.decode())
            message = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(body), body)
            require(signers_of(keys, message, signatures), "a statement is signed by none of the keys")
            about, said = {f"sha256:{one['digest']['sha256']}" for one in statement["subject"]}, statement["predicate"]
            for other in about & rules.plans.keys() - {shown}:
                shown, plan = other, STRICT(b"".join(bundle.read(f"documents/{other[7:]}.json", False)).decode())
            require(shown in about, "a statement is about nothing that this log has planned")
            (of,), said["predicateType"], at = about - {shown}, statement["predicateType"], said.get("entry")
            due = rules.reviews.pop((at, shown, of), {}) or told(plan, of, rules.plans[shown], said)
            wrong = [one for one in due | (said if at else {}) if COMPACT(said.get(one)) != COMPACT(due.get(one))]
            require(not wrong, f"a statement about {of} says otherwise than log and plan: {', '.join(wrong)}", at)
        require(not rules.reviews, "no statement tells of this activation", [*rules.reviews, [0]][0][0], INCOMPLETE)
        left_out = (trailer := json.loads(next(bundle.read("TRAILER.json", False), b""))).pop("absent", 0)
        as_listed = type(left_out) is int and left_out >= 0 and trailer == found | {"files": sorted(bundle.names)}
        require(as_listed, "the trailer lists more or less", None, INCOMPLETE)
        rules.absent = left_out
        require(signers_of(keys, bundle.digest(), [bundle.signature]), "the archive is not the one that was signed")
        text = f"{good:,} entries of {origin}, signed by keys that {'you gave' if pinned else 'came with them'}"
    except Fault as fault: text, seq, code = (*fault.args, BROKEN)[:3]
    except BAD as error: text, code = f"the bundle cannot be read: {meaning(error)}", INCOMPLETE
    counts = ((rules.hidden, "entries that are only hashes here"), (rules.older, "entries without scope or uploader"),
              (rules.absent, "kept files that were left out"))
    unchecked = ["the planner was not run", "who is behind a token", *(f"{what}: {n:,}" for n, what in counts if n)]
    text = f"{WORDS[code]}{'' if seq is None else f' at seq {seq}'}: {text}. Not checked: {'; '.join(unchecked)}."
    return code, re.sub("[^ -~]", "?", text), seq, unchecked  # what a bundle says moves no cursor of a terminal
def key(text: str) -> list[str]:
    keys = (text if "+" in text else str(argparse.FileType()(text).read())).split()
    if keys and all(re.fullmatch(r"[!-*,-~]+\+[0-9a-f]{8}\+[+/0-9A-Za-z]{44}", one) for one in keys): return keys
    raise ValueError  # argparse says which, and exits with 2, as 1 speaks of the log
def main(argv: Sequence[str] | None = None) -> int:
    parser, more = argparse.ArgumentParser(description="Check an exported bundle."), argparse.FileType("rb")
    parser.add_argument("bundle", type=more)
    parser.add_argument("--key", action="extend", default=[], type=key, help="a key that you trust, or a file with it")
    parser.add_argument("--checkpoint", action="append", default=[], type=more, help="a checkpoint that you kept")
    asked = parser.parse_args(argv)
    code, headline, *_ = verify(asked.bundle, asked.key, [old.read() for old in asked.checkpoint])
    print(headline)
    return code
if __name__ == "__main__": raise SystemExit(main())
