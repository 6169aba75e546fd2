"""Publishing once: what was published under a key is the answer to whoever sends the same under it again.

Asked under the lock of the workspace, so of two requests at once the second sees what the first published.
"""

from collections.abc import Sequence
from dataclasses import asdict

from planner.canonical import content_id
from reviews.errors import ConflictError
from reviews.models import Comment, Publication
from reviews.services.acting import Acting
from reviews.services.comment_checks import Written
from reviews.services.submissions import require_key


def published_before(act: Acting, key: str | None, comments: Sequence[Written]) -> tuple[Comment, ...]:
    """Return what the actor published on the decision under this key; nothing without a key or before the first time.

    Raises:
        InvalidRequestError: the key is none.
        ConflictError: the key belongs to other comments.
    """
    require_key(key)
    rows = Publication.objects.filter(decision=act.decision, person_id=act.standing.person_id, key=key)
    earlier = rows.first() if key else None
    if earlier is None:
        return ()
    if earlier.request_sha256 != _digest(comments):
        raise ConflictError("This idempotency key belongs to other comments. Send a new key with new content.")
    made = Comment.objects.filter(thread__decision=act.decision, entry=earlier.entry)
    return tuple(made.select_related("thread").order_by("pk"))


def published(
    act: Acting, key: str | None, comments: Sequence[Written], made: tuple[Comment, ...]
) -> tuple[Comment, ...]:
    """Keep under which key comments were published, and return them."""
    if key:
        Publication.objects.create(
            decision=act.decision,
            person_id=act.standing.person_id,
            key=key,
            request_sha256=_digest(comments),
            entry=made[0].entry,
        )
    return made


def _digest(comments: Sequence[Written]) -> str:
    return content_id({"comments": [asdict(comment) for comment in comments]})
