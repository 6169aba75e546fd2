"""Checks a bundle that Topogate exported, without Topogate: takes Python 3.11 and ``cryptography``, nothing else.
Exit 0 VERIFIED: all holds and is signed by keys that you gave. 3 CONSISTENT ONLY: all holds, but the keys came with
the bundle. 1 BROKEN: what is wrong, and at which entry. 2 INCOMPLETE: something is missing or cannot be read."""
import argparse, base64, contextlib, csv, io, itertools, json, re, struct, typing, zipfile, zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from hashlib import file_digest, sha256
try: import cryptography.exceptions as lib, cryptography.hazmat.primitives.asymmetric.ed25519 as ed25519
except ImportError: argparse.ArgumentParser().exit(2, "INCOMPLETE: the package cryptography is not installed.\n")
(VERIFIED, BROKEN, INCOMPLETE, CONSISTENT), VOUCHED = range(4), ("who", "uploaded_sha256", "size_bytes")
WORDS, FLAT = ("VERIFIED", "BROKEN", "INCOMPLETE", "CONSISTENT ONLY"), {str, int, type(None)}
COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode  # RFC 8785 without doubles
BAD = (ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError, RuntimeError, TypeError,
       ValueError, csv.Error, struct.error, zipfile.error, zlib.error)  # what reading values of the wrong kind raises
class Tree(dict[str, typing.Any]):  # a JSON object, whose values are attributes too
    def __getattr__(self, name: str) -> typing.Any: return self[name]
class Fault(Exception): """Its arguments: what is wrong, at which entry (None: at no one), the exit code."""
def require(holds: object, text: str, code: int = BROKEN, seq: int | None = None) -> None:
    if not holds: raise Fault(text, seq, code)
STRICT = json.JSONDecoder(parse_constant=int, object_pairs_hook=lambda pairs: (  # raises at NaN, and at a key twice
    Tree(pairs) if len(dict(pairs)) == len(pairs) else Tree()["a key"])).decode
MAX_FILES, MAX_DIRECTORY, MAX_BYTES, MAX_RATIO, MAX_LINE = 200_000, 1 << 25, 1 << 32, 400, 1 << 24
class Bundle:  # 1. The container: a zip archive, bounded before it is unpacked; its comment signs all before it
    def __init__(self, file: typing.BinaryIO) -> None:
        self.file, self.size = file, file.seek(0, io.SEEK_END) - 64
        _, more, at, end = file.seek(max(0, self.size - 98)), *map(file.read, (56, 20, 86))  # zipfile finds the last
        require(end.rfind(b"PK\5\6") == 0 and end[20:22] == b"@\0", "it is no bundle, or was cut off", INCOMPLETE)
        count, length = struct.unpack("<QQ", more[32:48]) if at[:4] == b"PK\6\7" else struct.unpack("<HL", end[10:16])
        is_here = at[:4] != b"PK\6\7" or more[:4] + at[8:16] == b"PK\6\6" + (self.size - 98).to_bytes(8, "little")
        require(is_here and count <= MAX_FILES and length <= MAX_DIRECTORY, "there are too many files")  # zip64
        self.zip, self.signature = zipfile.ZipFile(file), end[22:]
        infos, self.names = self.zip.infolist(), set(self.zip.namelist())
        odd = [one.filename for one in infos if one.compress_type not in (0, 8) or one.external_attr >> 28  # a link
               or not re.fullmatch(r"(?:[a-z]+/)?[A-Za-z0-9-]+(?:\.[a-z0-9]+)+", one.orig_filename)]
        require(not odd and len({*map(str.lower, self.names)}) == count, f"it has files that no bundle has: {odd[:3]}")
        require(sum(i.file_size for i in infos) <= min(MAX_BYTES, MAX_RATIO * self.size), "it would unpack to too much")
    def read(self, name: str, by_line: bool = True) -> Iterator[bytes]:
        require(name in self.names, f"{name} is missing", INCOMPLETE)
        with self.zip.open(name) as raw, io.BufferedReader(raw, 1 << 20) as stream:  # type: ignore[type-var] # it reads
            while part := stream.readline(MAX_LINE) if by_line else stream.read(MAX_LINE):
                require(part[-1] == 10 or not by_line, "a line has no end", INCOMPLETE)
                yield part[:-1] if by_line else part
    def tree(self, name: str) -> Tree:  # of at most 256 MiB: what is cut off there is no JSON
        return Tree(STRICT(b"".join(itertools.islice(self.read(name, False), 16)).decode()))
    def digest(self) -> bytes:
        digest, _ = sha256(b"topogate.bundle/v1\n"), self.file.seek(0)
        for at in range(0, self.size, 1 << 20): digest.update(self.file.read(min(1 << 20, self.size - at)))
        return digest.digest()
def signers_of(keys: Sequence[str], message: bytes, signatures: Sequence[bytes]) -> Iterator[str]:  # 2. Signatures
    for key, by in itertools.product(keys, signatures):
        with contextlib.suppress(lib.InvalidSignature):
            ed25519.Ed25519PublicKey.from_public_bytes(base64.b64decode(key.split("+", 2)[2])[1:]).verify(by, message)
            yield key
KEY = re.compile(r"[!-*,-~]+\+[0-9a-f]{8}\+[+/0-9A-Za-z]{44}")  # name+id+base64 of 1 and the key (C2SP signed-note)
def checkpoint_of(raw: bytes, keys: Sequence[str]) -> tuple[int, bytes, str, list[str]]:  # size, root, origin, signers
    text, _, block = raw.decode().rpartition("\n\n")
    require(re.fullmatch(r"[!-~]+\n(0|[1-9][0-9]{0,15})\n[!-~]{43}=", text), "a checkpoint cannot be read", INCOMPLETE)
    (origin, size, root), mine = text.split("\n"), [key for key in keys if key.startswith(f"{text.split()[0]}+")]
    by = [base64.b64decode(line.split(" ")[2])[4:] for line in block.splitlines() if line.startswith(f"— {origin} ")]
    return int(size), base64.b64decode(root), origin, [*signers_of(mine, f"{text}\n".encode(), by)]
def root_of(row: list[bytes]) -> bytes:  # 3. The log: entries, in quotes leaf hashes of others; a tree of RFC 9162
    odd, pairs = row[len(row) & -2 :], zip(*[iter(row)] * 2, strict=False)  # the last one of an odd number stays
    return row[0] if len(row) < 2 else root_of([sha256(b"\1" + a + b).digest() for a, b in pairs] + odd)
def chained(lines: Iterator[bytes], leaves: list[bytes], prev: bytes = b"0" * 64) -> Iterator[bytes]:
    for seq, line in enumerate(lines):
        is_hash, mine = line[:1] == b'"', sha256(line).hexdigest().encode()
        require(not is_hash or re.fullmatch(rb'"[0-9a-f]{64}"', line), "is no leaf hash", seq=seq)
        if prev and not is_hash and b',"prev":"sha256:%b",' % prev not in line:  # only a field can have this: else \"
            is_sound = mine in next(lines, mine)  # the next one follows this one, if there is one
            raise Fault("is not the entry that the others follow", seq - (b',"seq":%d,' % seq in line and is_sound))
        leaves.append(bytes.fromhex(line[1:65].decode()) if is_hash else sha256(b"\0" + line).digest())
        prev = b"" if is_hash else mine
        yield line
def replay(rules: "Rules", lines: Iterator[bytes], payloads: Iterator[bytes], origin: str, leaves: list[bytes]) -> None:
    for seq, line in ((n, one) for n, one in enumerate(chained(lines, leaves)) if one[:1] != b'"'):
        try:
            e = Tree(json.loads(line.decode()))
            require(e.v == 1, "was written by a later version: take its verify.py", INCOMPLETE)
            require({*map(type, e.values())} <= FLAT and COMPACT(e).encode() == line, "is not in its only form")
            require((e.origin, e.seq) == (origin, seq), "belongs to another place or log")
            p = next(payloads, b"") if e.payload_sha256 else b"{}"
            is_named = e.payload_sha256 in (None, f"sha256:{sha256(p).hexdigest()}")
            require(is_named, "has not the payload that it names", BROKEN if p else INCOMPLETE)
            rules.apply(e, STRICT(p.decode()))
        except Fault as fault: raise Fault(fault.args[0], seq, fault.args[2]) from fault
        except BAD as error: raise Fault(f"does not say what an entry has to: {error!s:.80}", seq) from error
    require(next(payloads, None) is None, "a payload belongs to no entry")
ROLES, LENT = ("member", "author"), "person in_place_of starts_at ends_at".split()
PROOFS, SAID = ("passkey", "totp", "password"), "seq team person meaning revision turn subject scope status".split()
class Rules:  # 4. The rules of reviewing: who signs, what counts, what is carried, what is put into force
    def __init__(self) -> None:
        self.roles, self.policies, self.decisions, self.seen = dict[str, str](), Tree(), dict[int, Tree](), 0
        self.seats, self.closed, self.lent = set[tuple[str, str]](), set[str](), list[tuple[typing.Any, ...]]()
        self.documents, self.key, self.diagnosed, self.older = dict[str, int](), [""], list[Tree](), 0
    def apply(self, e: Tree, p: Tree) -> None:  # an entry, its payload; d: what is known of its decision
        new = Tree(authors=set(), revisions={}, newest=0, signs=[], waivers=[], blocked=set(), again={})
        d, self.seen = self.decisions.setdefault(e.decision or 0, new), self.seen + 1
        if not d.newest and e.action in ("revision.planned", "signoff.given", "signoff.withdrawn"): self.older += 1
        elif e.action in ACTS: ACTS[e.action](self, e, p, d)
    def able(self, who: str | None, team: str) -> bool:
        return self.roles.get(str(who)) in ROLES and who not in self.closed and (not team or (who, team) in self.seats)
    def proven(self, e: Tree, d: Tree, people: Collection[str]) -> None:
        require(e.auth_method in PROOFS and e.auth_age_s in range(301), "is done without a recent proof of by whom")
        require(len({*people}) == len(people), "is proposed and countersigned by one person")
        require(not {*people} & d.authors, "is done by an author of the decision, or in their place")
    def given(self, e: Tree, p: Tree, d: Tree, who: str | None) -> typing.Any:  # of what is final nothing
        signs = {(s.team, s.person, s.turn, s.revision): s for s in d.signs}
        return signs[e.team, who, p.turn, p.get("from_revision", e.revision)] if signs else Tree(open=set())
    def create(self, e: Tree, p: Tree, d: Tree) -> None:
        require(e.revision > d.newest and p.policy == self.policies.get(""), "is not under the newest policy")
        d["newest"], d.revisions[e.revision], self.older = e.revision, p, self.older + ("author" not in p)
        d["authors"] |= {p.get(by, e.actor) for by in ("author", "contract_by", "evidence_by")}
        self.documents.update(dict.fromkeys((p.contract_file_sha256, p.evidence_file_sha256), e.seq))
    def plan(self, e: Tree, p: Tree, d: Tree) -> None:
        r, own = d.revisions[e.revision], ("contract", "evidence", "identity", "planner_version", "policy")
        parts = COMPACT({part: r.get(part) for part in own} | {"plan": p.plan}).encode()
        require(f"sha256:{sha256(parts).hexdigest()}" == e.subject, "names a subject that is not made of its parts")
        r.update({n: p.get(n) for n in ("plan_sha256", "scopes", "evidence_until")}, subject=e.subject, reviews=[])
        self.documents[p.plan_sha256], self.older = e.seq, self.older + ("scopes" not in p)
    def sign(self, e: Tree, p: Tree, d: Tree) -> None:
        r, team, who, giver = d.revisions[d.newest], p.team, p.person, p.get("in_place_of")
        self.proven(e, d, people := {who, giver or who})
        now, scope = r.subject, r.scopes[team].digest if r.scopes else p.scope
        said = (e.actor, e.team, e.meaning, e.revision, e.subject, p.subject, p.scope)
        require(said == (who, team, p.meaning, d.newest, now, now, scope), "signs something else than what is newest")
        lent = any(one[:3] == (team, who, giver) and one[3] <= p.at < one[4] for one in self.lent)
        seated = self.able(giver, team) and self.able(who, "") and lent if giver else self.able(who, team)
        taken = any(s.person in people and s.team != team and not s.gone for s in d.signs)
        require(seated and not taken, "is signed without a free seat, or a delegation that holds")
        d.signs.append(Tree(p, seq=e.seq, revision=d.newest, people=people, carried=0, carry=None, gone=False,
            open={(o.kind, o.text) for o in p.get("points", ()) if o.kind == "condition"}))
    def carry(self, e: Tree, p: Tree, d: Tree) -> None:
        s, r = self.given(e, p, d, p.person), d.revisions[d.newest]
        stood = [v for n, v in d.revisions.items() if n >= (s.carried or s.revision) and "subject" in v]
        scopes = {v.scopes.get(s.team, {}).get("digest") for v in stood if v.scopes} | {p.scope}
        same = scopes == {s.scope} and len({(v.policy, v.planner_version) for v in stood}) == 1
        now = (e.revision, e.subject, p.from_subject) == (d.newest, r.subject, s.subject)
        stays = s.meaning == "object" or (same and s.meaning != "accept_risk")
        require(stays and now, "carries a sign-off over what its team owns")
        s["carried"], s["carry"] = d.newest, e.seq
    def status(self, s: Tree, d: Tree, at: str, seq: int) -> str:  # empty: it says nothing of the newest any more
        r, again = d.revisions[d.newest], d.again.get(s.team, -1) > s.seq
        later = [o for o in d.signs if (o.team, o.person) == (s.team, s.person) and o.seq > s.seq]
        able = self.able(s.person, "") and self.able(s.get("in_place_of", s.person), s.team)
        now, then = ({w for w, end in d.waivers if w < q and end > t} for q, t in ((seq, at), (s.seq, s.at)))
        here, until = s.subject == r.subject, r.evidence_until or at
        fresh = r.policy == self.policies.get("") and until >= at and now == then
        stands = able and fresh and not again and (here or (s.carried == d.newest and not later))
        holds = (s.meaning == "object" or (stands and not s.people & d.authors)) and not s.gone
        return "" if not holds or s.revision in {o.revision for o in later} else "CURRENT" if here else "CARRIED"
    def activate(self, e: Tree, p: Tree, d: Tree) -> None:
        self.proven(e, d, {e.actor})
        policy, quorums = self.policies[(r := d.revisions[d.newest]).policy], dict[str, int]()
        may = any(self.able(e.actor, team) for team in policy.get("duties", {}).get("release") or policy.teams)
        require(may and (e.revision, e.subject) == (d.newest, r.subject), "activates what is not newest, or may not")
        counting = [Tree(s, status=status) for s in d.signs if (status := self.status(s, d, e.at, e.seq))]
        rows = sorted(COMPACT({n: s[n] for n in SAID[1:]}) for s in counting)
        require(rows == sorted(map(COMPACT, p.signoffs)), "counts otherwise than the log")
        approving = [s for s in counting if s.meaning in ("approve", "approve_with_conditions", "accept_risk")]
        for row in p.requirements:
            team, mine = row.team, [s for s in counting if s.team == row.team]
            touched = r.scopes[team].is_touched if r.scopes else row.status != "NOT_APPLICABLE"
            quorums[team] = quorum = policy.teams[team].quorum if touched else 0
            given = sum(all(s.people.isdisjoint(o.people) for o in mine[:n]) for n, s in enumerate(mine))
            against = [s for s in mine if s.meaning == "object" or (quorum and (s.open or s not in approving))]
            is_free = given >= quorum and not against and team not in dict(d.blocked).values()
            require(is_free, f"lacks what {team} owes: {given} of {quorum}")
        enough = any(quorums.values()) and len({s.person for s in approving}) > 1
        require(enough and quorums.keys() == policy.teams.keys(), "rests on too few people or teams")
        r.reviews.append(Tree({n: (r | e)[n] for n in ("decision", "revision", "slot", "policy", "planner_version")} | {
            "predicateType": "urn:topogate:predicate:topology-review:v1", "subject": [e.subject, r.plan_sha256],
            "log": e.origin, "entry": e.seq, "authors": sorted(d.authors), "quorum": quorums, "carries": [
            s.carry for s in approving if s.carry], "approvals": [{n: s[n] for n in SAID} for s in approving]}))
ACTS: dict[str, Callable[[Rules, Tree, Tree, Tree], object]] = {
    "log.key_set": lambda s, e, p, d: s.key.append(p.key),
    "policy.set": lambda s, e, p, d: s.policies.update({e.payload_sha256: p, "": e.payload_sha256}),
    "roster.role_set": lambda s, e, p, d: s.roles.update({p.person: p.role}),
    "roster.removed": lambda s, e, p, d: s.roles.pop(p.person),
    "roster.account_closed": lambda s, e, p, d: s.closed.add(p.person),
    "roster.account_opened": lambda s, e, p, d: s.closed.discard(p.person),
    "roster.seat_given": lambda s, e, p, d: s.seats.add((p.person, e.team)),
    "roster.seat_taken": lambda s, e, p, d: s.seats.discard((p.person, e.team)),
    "delegation.made": lambda s, e, p, d: s.lent.append((e.team, *map(p.get, LENT))),
    "delegation.ended": lambda s, e, p, d: s.lent.remove((e.team, *map(p.get, LENT))),
    "revision.created": Rules.create, "revision.planned": Rules.plan, "decision.activated": Rules.activate,
    "signoff.given": Rules.sign, "signoff.carried": Rules.carry,
    "signoff.withdrawn": lambda s, e, p, d: s.given(e, p, d, p.get("signer", e.actor)).update(gone=True),
    "point.settled": lambda s, e, p, d: s.given(e, p, d, p.signer).open.discard((p.kind, p.text)),
    "re_review.asked": lambda s, e, p, d: d.again.update(dict.fromkeys(p.teams, e.seq)),
    "comments.published": lambda s, e, p, d: d.blocked.update(
        (o.thread, o.opens.team) for o in p.comments if "opens" in o and o.opens.blocking),
    "thread.resolved": lambda s, e, p, d: d.blocked.discard((p.thread, e.team)),
    "waiver.granted": lambda s, e, p, d: d.waivers.append((e.seq, p.ends_at)),
    "diagnosis.made": lambda s, e, p, d: s.diagnosed.extend(
        Tree(o, behind=f"diagnosis {p.number} of D-{e.decision:04}", at=f"files/{o.sha256[7:]}.bin") for o in p.files),
    "proposal.countersigned": lambda s, e, p, d: s.proven(e, d, [e.actor, p.proposed_by]),
    **dict.fromkeys(("decision.superseded", "decision.withdrawn", "decision.rejected"), lambda s, e, p, d: d.update(
        signs=[], revisions={n: Tree(r, scopes=None) for n, r in d.revisions.items()}))}  # final: no more is asked
def due(r: Tree, plan: Tree) -> Iterator[Tree]:  # 5. What the statements about a planned revision say, in order
    setup = [{"name": n, "digest": {"sha256": r[f"{n}_file_sha256"][7:]}} for n in ("contract", "evidence")]
    setup += [{"name": "planner", "uri": f"urn:topogate:planner:{r.planner_version}"}]
    levels, chosen = ["FAILED"], plan.decision == "SELECT_TOPOLOGY"
    slot = re.sub(rb"[^\w.~-]", lambda sign: b"%%%02X" % ord(sign[0]), r.slot.encode()).decode()  # RFC 3986
    for trial, one in plan.candidates.items():
        good, bad = ([g for g, x in one.gates.items() if x.outcome in b] for b in ({"PASS"}, {"FAIL", "UNKNOWN"}))
        if chosen and plan.selected.trial == trial: levels = [f"TOPO_GATE_{gate.upper()}" for gate in good]
        yield Tree({"predicateType": "https://in-toto.io/attestation/test-result/v0.1", "configuration": setup,
            "subject": [one.trial_content_id, r.plan_sha256], "passedTests": good, "failedTests": bad,
            "warnedTests": [], "result": "FAILED" if bad else "PASSED"})
    yield Tree({"predicateType": "https://slsa.dev/verification_summary/v1", "subject": [r.subject, r.plan_sha256],
        "resourceUri": f"urn:topogate:slot:{slot}", "verifiedLevels": levels, "policy": {"uri": "urn:topogate:policy",
        "digest": {"sha256": r.policy[7:]}}, "verifier": {"id": "urn:topogate:planner", "version": {"topogate":
        r.planner_version}}, "verificationResult": "PASSED" if chosen else "FAILED"})
    yield from r.reviews
def stated(rules: Rules, bundle: Bundle, keys: Sequence[str]) -> None:  # each that there has to be, and no more
    rs = (r for _, d in sorted(rules.decisions.items()) for r in d.revisions.values() if "subject" in r)
    dues = (says for r in rs for says in due(r, bundle.tree(f"documents/{r.plan_sha256[7:]}.json")))
    for dsse in map(STRICT, map(bytes.decode, lines := bundle.read("statements.jsonl"))):
        body, by = base64.b64decode(dsse.payload), [base64.b64decode(one.sig) for one in dsse.signatures]
        message, it = b"DSSEv1 28 application/vnd.in-toto+json %d %b" % (len(body), body), STRICT(body.decode())
        require([*signers_of(keys, message, by)], "a statement signed by none of the keys")
        about, says = [f"sha256:{one.digest.sha256}" for one in it.subject], next(dues, Tree(subject=""))
        said = it.predicate | {"predicateType": it.predicateType, "subject": about}
        whole = said if "entry" in says or not says.subject else {}  # of a review all that it says
        wrong = [n for n in says | whole if COMPACT(said.get(n)) != COMPACT(says.get(n))]
        if wrong and sum(1 for _ in dues) > sum(1 for _ in lines): break
        text = f"a statement about {about[0]} says otherwise than log and plan: {', '.join(wrong)}"
        require(not wrong, text, seq=said.get("entry", says.get("entry")))
    else: says = next(dues, Tree(subject=""))
    require(not says.subject, f"no statement tells of {' in '.join(says.subject)}", INCOMPLETE, says.get("entry"))
def files_of(rules: Rules, tree: Callable[[str], Tree]) -> Iterator[Tree]:  # 6. What evidence and diagnoses rest on
    for digest in sorted({r.evidence_file_sha256 for d in rules.decisions.values() for r in d.revisions.values()}):
        for one in tree(f"documents/{digest[7:]}.json").get("provenance", {}).get("files", {}).values():
            yield Tree(one, size_bytes=one.bytes, behind=f"evidence {digest}", at=f"files/{one.sha256[7:]}.bin")
    yield from rules.diagnosed
def logged(bundle: Bundle, action: str) -> Iterator[tuple[str, Tree]]:  # who says it, and what tables have to tell
    payloads = bundle.read("log/payloads.jsonl")
    for line in (line for line in bundle.read("log/entries.jsonl") if line[:1] != b'"'):
        e = Tree(json.loads(line), sha256=f"sha256:{sha256(line).hexdigest()}")
        p = next(payloads) if e.payload_sha256 else b"{}"
        if action in ("", e.action): yield f"log entry {e.seq}", Tree(e, **json.loads(p)) if action else e
def tabled(bundle: Bundle, name: str, dues: Iterator[tuple[str, Tree]]) -> None:  # a row for each, in that order
    head = next(csv.reader([next(lines := bundle.read(name), b"").decode()], strict=True), [])
    for number, (line, due) in enumerate(itertools.zip_longest(lines, dues), 2):
        (by, says), row = due or ("the log's end", Tree()), next(csv.reader([(line or b"").decode()], strict=True), [])
        for column, cell in itertools.zip_longest(head or [""], row):
            text = "" if says.get(column) is None else re.sub("\r?\n", "⏎", str(says[column]))
            holds = cell in (text, f"'{text}") or (due and line and column in VOUCHED and column not in says)
            require(holds, f"{name} line {number}: {column} is {cell!a:.60}, where {by} says {text!a:.60}")
Result = tuple[int, str, int | None, list[str]]  # exit code, headline, entry, what was not checked
def verify(file: typing.BinaryIO, pinned: Sequence[str] = (), olds: Sequence[bytes] = ()) -> Result:
    rules, leaves, seq, good, code = Rules(), list[bytes](), None, 0, VERIFIED if pinned else CONSISTENT
    unchecked = ["the planner was not run", "who is behind a token, whatever name stands there", "report and records"]
    try:
        require(all(map(KEY.fullmatch, pinned)), "no key of a log was given", INCOMPLETE)
        bundle = Bundle(file)
        keys = pinned or [line.decode() for line in itertools.islice(bundle.read("log/keys.txt"), 999)]
        newest = next(bundle.read("log/newest.checkpoint", False), b"")
        (_, _, origin, signers), *_ = points = [checkpoint_of(note, keys) for note in (newest, *olds)]
        require(all(by for *_, by in points), "signed by none of the keys (after a change of keys give old and new)")
        replay(rules, bundle.read("log/entries.jsonl"), bundle.read("log/payloads.jsonl"), origin, leaves)
        for size, root, name, _ in sorted(points):
            require(name == origin and size <= len(leaves), f"{size:,} entries were signed once", seq=len(leaves))
            require(root_of(leaves[:size]) == root, f"entries {good:,} to {size - 1:,} are not as signed", seq=good)
            good = size
        require(good == len(leaves), "no checkpoint covers the entries from here on", seq=good)
        require(rules.key[-1] in signers, "the log names another key than the one that signed it", seq=good - 1)
        named = {f"documents/{digest[7:]}.json": seq for digest, seq in rules.documents.items()}
        for name in sorted({*named, *(name for name in bundle.names if re.match("documents/|files/", name))}):
            require(name in bundle.names, f"{name} is missing", INCOMPLETE)
            digest = file_digest(bundle.zip.open(name), "sha256").hexdigest()  # type: ignore[arg-type] # it reads
            require(f"/{digest}." in name, f"{name} has another digest", seq=named.get(name))
        stated(rules, bundle, signers)  # keys of other logs that were given say nothing of this one
        tabled(bundle, "tables/entries.csv", logged(bundle, ""))
        tabled(bundle, "tables/signoffs.csv", logged(bundle, "signoff.given"))
        files = [Tree(one, included="yes" if one.at in bundle.names else "no") for one in files_of(rules, bundle.tree)]
        behind, here = {one.at for one in files}, {name for name in bundle.names if name[:6] == "files/"}
        require(here <= behind, f"no evidence and no diagnosis names {sorted(here - behind)[:3]}")
        if "tables/files.csv" in bundle.names: tabled(bundle, "tables/files.csv", ((one.behind, one) for one in files))
        found = {"schema": "topogate.bundle/v1", "entries": good, "hashes": good - rules.seen,
                 "statements": sum(1 for _ in bundle.read("statements.jsonl")), "files": sorted(bundle.names)}
        require(bundle.tree("TRAILER.json") == found, "the trailer lists more or less", INCOMPLETE)
        unchecked += [f"{what}: {n}" for n, what in ((good - rules.seen, "entries that are only hashes here"), (
            rules.older, "entries without scope or uploader"), (len(behind - here), "files that are not here")) if n]
        require([*signers_of(signers, bundle.digest(), [bundle.signature])], "the archive is not the one signed")
        text = f"{good:,} entries of {origin}, signed by keys that {'you gave' if pinned else 'came with them'}"
    except Fault as fault: text, seq, code = (*fault.args, BROKEN)[:3]
    except BAD as error: text, code = f"the bundle cannot be read: {error!s:.80}", INCOMPLETE
    text = f"{WORDS[code]}{'' if seq is None else f' at seq {seq}'}: {text}. Not checked: {'; '.join(unchecked)}."
    return code, re.sub("[^ -~]", "?", text), seq, unchecked  # what a bundle says moves no cursor of a terminal
def main(argv: Sequence[str] | None = None) -> int:
    parser, more = argparse.ArgumentParser(description="Check an exported bundle."), argparse.FileType("rb")
    parser.add_argument("bundle", type=more)
    parser.add_argument("--key", action="extend", default=[], help="a key that you trust, or a file of it", type=lambda
        text: (text if "+" in text else str(argparse.FileType()(text).read())).split() or [""])  # which is no key
    parser.add_argument("--checkpoint", action="append", default=[], type=more, help="a checkpoint that you kept")
    code, said, *_ = verify((got := parser.parse_args(argv)).bundle, got.key, [old.read() for old in got.checkpoint])
    print(said)
    return code
if __name__ == "__main__": raise SystemExit(main())
