"""Sets how a person is told about a workspace: a preference of theirs, so it makes no entry in the audit log."""

from django.db import transaction

from reviews.errors import Finding, InvalidRequestError, printable
from reviews.models import Delivery, DeliveryState, NoticeMode, NoticePreference, Person, Workspace
from reviews.selectors.people import standing_of


def notice_preference_set(*, actor: Person, workspace: Workspace, mode: str) -> None:
    """Tell the actor at once, once a day, or never; with never, what still waits is dropped.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        InvalidRequestError: there is no such mode.
    """
    standing_of(actor, workspace)
    if mode not in NoticeMode.values:
        expected = ", ".join(NoticeMode.values)
        raise InvalidRequestError((Finding("request", "request/mode", "mode", expected, printable(mode) or "nothing"),))
    with transaction.atomic():
        NoticePreference.objects.update_or_create(workspace=workspace, person=actor, defaults={"mode": mode})
        if mode == NoticeMode.OFF:
            Delivery.objects.filter(person=actor, notice__workspace=workspace, state=DeliveryState.WAITING).delete()
