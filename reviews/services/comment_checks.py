"""Whether comments can be published: every problem of all of them at once, before anything is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from reviews.errors import Finding, InvalidRequestError, is_prose, length_of, printable
from reviews.models import Decision, DecisionState, Revision, Thread
from reviews.models.threads import ANCHOR_LENGTH
from reviews.policies.anchors import KINDS, Anchor, Content, Item, find, owner, settled
from reviews.policies.document import PolicyDocument
from reviews.selectors.anchored import content_of
from reviews.selectors.judgement import UNDER_REVIEW
from reviews.selectors.revisions import with_digests
from reviews.services.acting import PROSE, PROSE_LENGTH

MOST_COMMENTS = 200
MOST_ITEM_BYTES = 64 * 2**10


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A comment as somebody wrote it: a reply to ``thread``, or the first one about an item of ``revision``.

    Both are numbers; without a revision it is the newest one that is planned. ``team`` is for items that no team owns.
    """

    text: str
    thread: int | None = None
    revision: int | None = None
    kind: str = ""
    name: str = ""
    team: str = ""
    is_blocking: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A comment that can be published. ``thread`` is what it replies to; otherwise it opens one about ``item``."""

    text: str
    thread: Thread | None = None
    revision: Revision | None = None
    item: Item | None = None
    kind: str = ""
    name: str = ""
    team: str = ""
    is_blocking: bool = False


@dataclass(slots=True)
class Checks:
    """Judges comments on one decision by its newest policy; what a revision holds is read once for all of them."""

    decision: Decision
    document: PolicyDocument
    problems: list[Finding] = field(default_factory=list)
    contents: dict[int, Content] = field(default_factory=dict)
    revisions: Mapping[int, Revision] = field(init=False)
    threads: Mapping[int, Thread] = field(init=False)

    def __post_init__(self) -> None:
        """Fetch revisions and threads once."""
        rows = with_digests(Revision.objects.filter(decision=self.decision)).order_by("number")
        self.revisions = {row.number: row for row in rows}
        threads = Thread.objects.filter(decision=self.decision).select_related("resolution")
        self.threads = {row.number: row for row in threads}

    def ready(self, written: Written, at: str) -> Ready | None:
        """Return a comment as it would be published, None with its problems noted; ``at`` leads to its fields."""
        before = len(self.problems)
        text = written.text.strip()
        if not is_prose(text, PROSE_LENGTH):
            self._refuse(at, "text", PROSE, length_of(text))
        made = self._reply(written, at, text) if written.thread is not None else self._first(written, at, text)
        return made if len(self.problems) == before else None

    def _reply(self, written: Written, at: str, text: str) -> Ready:
        thread = self.threads.get(written.thread or 0)
        if thread is None:
            self._refuse(at, "thread", f"the number of a thread of {self.decision.label}", str(written.thread))
        elif hasattr(thread, "resolution"):
            self._refuse(at, "thread", "an open thread; open another one about the same", "a resolved one")
        for name in ("kind", "name", "team", "revision"):
            if getattr(written, name):
                self._refuse(at, name, "nothing: a reply is about what its thread is about", "something")
        if written.is_blocking:
            self._refuse(at, "blocking", "false: what a thread blocks is said when it is opened", "true")
        return Ready(text=text, thread=thread)

    def _first(self, written: Written, at: str, text: str) -> Ready:
        revision = self._revision(written, at)
        if revision:
            anchor = settled(Anchor(written.kind, written.name), self._content(revision))
            written = replace(written, kind=anchor.kind, name=anchor.name)
        item = self._item(written, revision, at) if revision else None
        team = ""
        if revision and item:
            team = owner(anchor, self._content(revision), self.document) or self._team(written, at)
        if written.is_blocking and self.decision.state not in UNDER_REVIEW:
            state = DecisionState(self.decision.state).label.lower()
            self._refuse(at, "blocking", "false: only what is under review is blocked, object to what is", state)
        return Ready(
            text=text,
            revision=revision,
            item=item,
            kind=written.kind,
            name=written.name,
            team=team,
            is_blocking=written.is_blocking,
        )

    def _revision(self, written: Written, at: str) -> Revision | None:
        planned = {number: row for number, row in self.revisions.items() if hasattr(row, "planned")}
        number = max(planned, default=0) if written.revision is None else written.revision
        if number not in planned:
            found = f"r{number}" if number else "none that is planned"
            self._refuse(at, "revision", f"a planned revision of {self.decision.label}", found)
        return planned.get(number)

    def _item(self, written: Written, revision: Revision, at: str) -> Item | None:
        if written.kind not in KINDS:
            self._refuse(at, "kind", f"one of {', '.join(KINDS)}", printable(written.kind) or "nothing")
            return None
        item = None
        if len(written.name) <= ANCHOR_LENGTH:
            item = find(Anchor(written.kind, written.name), self._content(revision))
        if item is None:
            expected = FORMS[written.kind].format(revision=revision.number)
            self._refuse(at, "name", expected, printable(written.name, 80) or "nothing")
        elif len(item.raw) > MOST_ITEM_BYTES:
            expected = f"something of at most {MOST_ITEM_BYTES:,} bytes; name a field inside it"
            self._refuse(at, "name", expected, f"{len(item.raw):,} bytes")
        return item

    def _team(self, written: Written, at: str) -> str:
        """Return the team that the writer names for an item that no team owns."""
        teams = sorted(self.document.teams)
        if (written.team or written.is_blocking) and written.team not in teams:
            found = printable(written.team) or "nothing"
            self._refuse(at, "team", f"a team of the policy: {', '.join(teams)}", found)
        return written.team

    def _content(self, revision: Revision) -> Content:
        if revision.number not in self.contents:
            self.contents[revision.number] = content_of(revision)
        return self.contents[revision.number]

    def _refuse(self, at: str, name: str, expected: str, found: str) -> None:
        self.problems.append(Finding("request", "request/comment", f"{at}{name}", expected, found))


FORMS: Mapping[str, str] = {
    "gate": "a gate of r{revision}: trial~gate~limit, where a gate without limits has the limit always",
    "trial": "a trial of r{revision}: its id",
    "rank": "a rank of r{revision}: trial~rank",
    "candidate": "a candidate of r{revision}: the id of its trial",
    "identity": "an identity key of r{revision}: its JSON pointer, below /identity",
    "contract": "a contract field of r{revision}: its JSON pointer",
}


def ready_to_publish(decision: Decision, document: PolicyDocument, written: Sequence[Written]) -> tuple[Ready, ...]:
    """Return comments as they would be published, in their order.

    Raises:
        InvalidRequestError: with every problem of all of them.
    """
    checks = Checks(decision, document)
    if not 1 <= len(written) <= MOST_COMMENTS:
        expected, found = f"1 to {MOST_COMMENTS} comments", str(len(written))
        raise InvalidRequestError((Finding("request", "request/comment", "comments", expected, found),))
    is_one = len(written) == 1
    made = [checks.ready(one, "" if is_one else f"comments/{at}/") for at, one in enumerate(written)]
    if checks.problems:
        raise InvalidRequestError(tuple(checks.problems))
    return tuple(one for one in made if one is not None)
