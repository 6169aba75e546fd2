"""A form for every address that takes one, sent by somebody who may, and the actions of the entries that it writes.

Rows are made anew each time: whoever carries one out takes it back before the next.
"""

from collections.abc import Callable
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from reviews.models import CommentDraft, Draft, SavedView, SignOffPoint
from reviews.services.identity_reports import identity_report
from reviews.services.people_invitations import invitation_make
from reviews.services.people_roster import account_close
from reviews.services.tokens import token_create
from reviews.services.webhooks import webhook_add
from tests.reviews.drafts import added, answered, begun, tool_file
from tests.reviews.factories import Cast, documents, sign
from tests.reviews.late_ranks import TRACE as RANKS
from tests.reviews.logins import log_in
from tests.reviews.observing import encoded, memory
from tests.reviews.rules.board import TRACE, someone
from tests.reviews.rules.test_rule_10_activation import activate
from tests.reviews.test_erasure import admin
from tests.web.accounts import PASSWORD, SECRET, app_of, code_of_app
from tests.web.test_decision_page import posted
from tests.web.test_policy_page import change, lend
from tests.web.test_release_page import sent
from tests.web.test_thread_pages import first

HOOK = "https://hooks.example.org/topogate"
Written = dict[str, Any]
Row = tuple[Callable[[Cast], tuple[Client, list[Any], Written]], tuple[str, ...]]


def browser(who: str) -> Client:
    return log_in(Client(), someone(who))


def by(who: str, *args: Any, **form: Any) -> Callable[[Cast], tuple[Client, list[Any], Written]]:
    """A form that stands as it is."""
    return lambda people: (browser(who), list(args), form)


def signing(people: Cast) -> tuple[Client, list[Any], Written]:
    bob = browser("bob")
    return bob, ["lab", 1], posted(bob, decision(people))


def decision(people: Cast) -> Any:
    return people.workspace.decisions.get(number=1)


def releasing(people: Cast) -> tuple[Client, list[Any], Written]:
    revision = decision(people).revisions.get()
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    return browser("dave"), ["lab", 1], sent(decision(people), "activate")


def settling(people: Cast) -> tuple[Client, list[Any], Written]:
    sign(people, decision(people).revisions.get(), meaning="approve_with_conditions", conditions=("Rerun.",))
    return browser("dave"), ["lab", 1, SignOffPoint.objects.get().pk], {"note": "Done."}


def withdrawing(people: Cast) -> tuple[Client, list[Any], Written]:
    signoff = sign(people, decision(people).revisions.get())
    return browser("bob"), ["lab", 1, signoff.pk], {"reason": "Too early."}


def revising(people: Cast) -> tuple[Client, list[Any], Written]:
    revision = decision(people).revisions.get()
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    activate(people, revision)
    identity_report(
        actor=people.bob, workspace=people.workspace, slot=revision.decision.slot, live={"model": {"revision": "r2"}}
    )
    return browser("alice"), ["lab", 1], {}


def drafted(people: Cast) -> CommentDraft:
    browser("bob").post("/w/lab/decisions/1/threads/new", first(act="draft"))
    return CommentDraft.objects.get()


def publishing(people: Cast) -> tuple[Client, list[Any], Written]:
    drafted(people)
    return browser("bob"), ["lab", 1], {}


def redrafting(people: Cast) -> tuple[Client, list[Any], Written]:
    return browser("bob"), ["lab", 1, drafted(people).pk], {"text": "Which?", "act": "draft"}


def replying(people: Cast) -> tuple[Client, list[Any], Written]:
    browser("bob").post("/w/lab/decisions/1/threads/new", first())
    return browser("alice"), ["lab", 1, 1], {"text": "The steady one.", "act": "publish"}


def draft_of(people: Cast, *, is_answered: bool = False) -> Draft:
    draft = begun(people)
    added(people, draft, tool_file(tensor_parallel_size=1))
    return answered(people, draft) if is_answered else Draft.objects.get(pk=draft.pk)


def diagnosing(people: Cast) -> tuple[Client, list[Any], Written]:
    return browser("bob"), ["lab", 1], {"files": [upload("trace.csv", RANKS)]}


def observing(people: Cast) -> tuple[Client, list[Any], Written]:
    revision = decision(people).revisions.get()
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    activate(people, revision)
    batch = encoded(memory(0), slot=revision.decision.slot)
    return browser("bob"), ["lab", 1], {"observations": upload("batch.json", batch)}


def building(**form: Any) -> Callable[[Cast], tuple[Client, list[Any], Written]]:
    """A form of the builder, over the draft's present version."""

    def made(people: Cast) -> tuple[Client, list[Any], Written]:
        draft = draft_of(people, is_answered=not form)
        return browser("alice"), ["lab", draft.pk], {"version": draft.version, **form}

    return made


def writing(people: Cast) -> tuple[Client, list[Any], Written]:
    alice = browser("alice")
    alice.post("/w/lab/contracts/", {"act": "empty"})
    draft = Draft.objects.latest("pk")
    return alice, ["lab", draft.pk, "service"], {"act": "save", "version": draft.version, "/slot": "chat/eu"}


def revoking(people: Cast) -> tuple[Client, list[Any], Written]:
    made = token_create(actor=people.alice, workspace=people.workspace, label="nightly", scope="read", days=7)
    return browser("alice"), ["lab", made.id], {}


def unhooking(people: Cast) -> tuple[Client, list[Any], Written]:
    webhook_add(actor=someone("ada"), workspace=people.workspace, url=HOOK, trace=TRACE)
    return browser("ada"), ["lab", people.workspace.webhooks.get().pk], {}


def view_of(**form: Any) -> Callable[[Cast], tuple[Client, list[Any], Written]]:
    def made(people: Cast) -> tuple[Client, list[Any], Written]:
        view = SavedView.objects.create(workspace=people.workspace, person=people.bob, name="Chat", query="slot=a")
        return browser("bob"), ["lab", view.pk], form

    return made


def closed(people: Cast, **form: Any) -> tuple[Client, list[Any], Written]:
    account_close(asker=admin(people), login="bob-lab")
    return browser("ada"), ["lab", "bob-lab"], form


def joining(people: Cast) -> tuple[Client, list[Any], Written]:
    made = invitation_make(workspace=people.workspace, person=people.bob)
    return Client(), [made.path.removeprefix("/join/")], {"password": f"{PASSWORD}-2", "repeated": f"{PASSWORD}-2"}


def first_password(people: Cast) -> tuple[Client, list[Any], Written]:
    people.bob.set_unusable_password()
    people.bob.save()
    app_of(people.bob)
    bob = log_in(Client(), people.bob, method="totp")
    return bob, [], {"password1": f"{PASSWORD}-2", "password2": f"{PASSWORD}-2"}


def adding_app(people: Cast) -> tuple[Client, list[Any], Written]:
    bob = browser("bob")
    session = bob.session
    session["mfa.totp.secret"] = SECRET
    session.save()
    return bob, [], {"code": code_of_app()}


def with_app(people: Cast) -> tuple[Client, list[Any], Written]:
    app_of(people.bob)
    return browser("bob"), [], {}


def removing_passkey(people: Cast) -> tuple[Client, list[Any], Written]:
    row = Authenticator.objects.create(user=people.bob, type="webauthn", data={"name": "Key", "credential": {}})
    return browser("bob"), [row.pk], {}


def unlinking(people: Cast) -> tuple[Client, list[Any], Written]:
    SocialAccount.objects.create(user=people.bob, provider="oidc", uid="1")
    return browser("bob"), [], {}


def upload(name: str, raw: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, raw)


PAIR = documents(tokens=170000)
NEW_PASSWORD = {"oldpassword": PASSWORD, "password1": f"{PASSWORD}-2", "password2": f"{PASSWORD}-2"}
INVITED = {"login": "eve", "name": "Eve", "email": "", "role": "member"}

ACTS: dict[str, Row] = {
    "decision-sign": (signing, ("signoff.given",)),
    "decision-release": (releasing, ("decision.activated",)),
    "point-settle": (settling, ("point.settled",)),
    "signoff-withdraw": (withdrawing, ("signoff.withdrawn",)),
    "threads-publish": (publishing, ("comments.published",)),
    "thread-new": (by("bob", "lab", 1, **first()), ("comments.published",)),
    "thread-detail": (replying, ("comments.published",)),
    "decision-new": (
        lambda people: (
            browser("alice"),
            ["lab"],
            {
                "title": "Next",
                "act": "submit",
                "files": [upload("contract.json", PAIR.contract), upload("evidence.json", PAIR.evidence)],
            },
        ),
        ("revision.created",),
    ),
    "identity-draft": (revising, ("draft.created",)),
    "contract-builder": (by("alice", "lab", act="empty"), ("draft.created",)),
    "contract-draft": (writing, ("draft.changed",)),
    "builder-list": (by("alice", "lab", name="May", contract=PAIR.contract.decode()), ("draft.created",)),
    "builder-files": (building(act="files", files=[upload("notes.txt", b"a walk\n")]), ("draft.files_added",)),
    "builder-trials": (building(act="new_trial", new="tp2"), ("draft.changed",)),
    "builder-questions": (building(act="new_trial", new="tp2"), ("draft.changed",)),
    "builder-coverage": (building(act="new_trial", new="tp2"), ("draft.changed",)),
    "builder-make": (building(), ("draft.finished",)),
    "builder-delete": (building(act="delete"), ("draft.deleted",)),
    "decision-observations": (observing, ("observations.began",)),
    "decision-slowest": (diagnosing, ("diagnosis.made",)),
    "token-list": (by("alice", "lab", label="nightly", scope="submit", days="30"), ("token.created",)),
    "token-revoke": (revoking, ("token.revoked",)),
    "webhook-list": (by("ada", "lab", url=HOOK), ("webhook.added",)),
    "webhook-remove": (unhooking, ("webhook.removed",)),
    "policy-detail": (lambda people: (browser("ada"), ["lab"], change()), ("proposal.made",)),
    "delegation-list": (lambda people: (browser("bob"), ["lab"], lend()), ("delegation.made",)),
    "export-list": (by("audrey", "lab"), ("export.requested",)),
    "verification-list": (by("audrey", "lab"), ("verification.requested",)),
    # Somebody new is a member with a role, and has a link: two facts, two entries.
    "person-invite": (by("ada", "lab", **INVITED), ("roster.role_set", "roster.link_made")),
    "person-role": (by("ada", "lab", "alice-lab", role="member"), ("roster.role_set",)),
    "person-seats": (by("ada", "lab", "alice-lab", **{"seat-serving": "lead"}), ("roster.seat_given",)),
    "person-link": (by("ada", "lab", "bob-lab"), ("roster.link_made",)),
    "person-close": (by("ada", "lab", "bob-lab"), ("roster.account_closed",)),
    "person-open": (closed, ("roster.account_opened",)),
    "person-erase": (lambda people: closed(people, login="bob-lab"), ("person.erased",)),
    "person-remove": (by("ada", "lab", "alice-lab"), ("roster.removed",)),
    "join": (joining, ("roster.link_used",)),
    "account": (by("bob", name="Robert"), ("account.changed",)),
    "account_change_password": (by("bob", **NEW_PASSWORD), ("account.changed",)),
    "account_set_password": (first_password, ("account.changed",)),
    "mfa_activate_totp": (adding_app, ("account.changed",)),
    "mfa_deactivate_totp": (with_app, ("account.changed",)),
    "mfa_generate_recovery_codes": (with_app, ("account.changed",)),
    "mfa_remove_webauthn": (removing_passkey, ("account.changed",)),
    "other-login-unlink": (unlinking, ("account.changed",)),
}
"""Address -> a form of somebody, and the actions of the entries that it writes."""

NO_ACTS: dict[str, Row] = {
    # Preferences: nobody else sees them and nothing is decided by them.
    "theme": (by("bob", theme="dark", next="/"), ()),
    "notification-list": (by("bob", "lab", mode="digest"), ()),
    "saved-view-list": (by("bob", "lab", name="Chat", slot="a"), ()),
    "saved-view-rename": (view_of(name="Other"), ()),
    "saved-view-delete": (view_of(), ()),
    # Nobody else sees it before it is published.
    "comment-draft": (redrafting, ()),
    # It answers a question and keeps nothing of the files.
    "decision-requalification": (by("bob", "lab", 1), ()),
    # What was opened is hashed into the sign-off.
    "item-open": (by("bob", "lab", 1, team="serving", item="nothing"), ()),
    # Coming and going, and confirming who one is: lines of the server's log.
    "logout": (by("bob"), ()),
    "account_login": (lambda people: (Client(), [], {"login": "bob-lab", "password": PASSWORD}), ()),
    "mfa_authenticate": (by("bob"), ()),
    "mfa_login_webauthn": (by("bob"), ()),
    "account_reauthenticate": (by("bob", password=PASSWORD), ()),
    "mfa_reauthenticate": (with_app, ()),
    "mfa_reauthenticate_webauthn": (with_app, ()),
    "session-end": (by("bob", 1), ()),
    "sessions-end": (by("bob"), ()),
    "openid_connect_login": (by("bob", "oidc"), ()),
    # They take a form and change nothing by it here; what they do with a provider or a device is tested beside them.
    "openid_connect_callback": (by("bob", "oidc"), ()),
    "mfa_add_webauthn": (by("bob"), ()),
}
"""Address -> a form that writes no entry, by what it is."""
