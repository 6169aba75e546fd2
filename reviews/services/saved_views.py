"""Saves, renames and deletes a person's views of the inbox.

A view is a preference: it decides nothing and nobody else sees it, so it makes no entry in the audit log, and whoever
reads the workspace may keep some, auditors too.
"""

from django.db import transaction

from reviews.errors import ConflictError, Finding, InvalidRequestError, NotFoundError, is_prose, length_of
from reviews.models import Person, SavedView, Workspace
from reviews.models.preferences import VIEW_NAME_LENGTH
from reviews.selectors.people import standing_of

MOST = 50
QUERY_LENGTH = 2000


def saved_view_make(*, actor: Person, workspace: Workspace, name: str, query: str) -> SavedView:
    """Keep a filter under a name; ``query`` is the query of the inbox's address, without the question mark.

    The same again returns the first.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        InvalidRequestError: with every problem of name and query.
        ConflictError: the name is taken, or the person has as many views as one may keep.
    """
    standing_of(actor, workspace)
    name = _checked(name, query)
    with transaction.atomic():
        kept = _kept(actor, workspace)
        same = next((view for view in kept if (view.name, view.query) == (name, query)), None)
        if same is not None:
            return same
        if len(kept) >= MOST:
            raise ConflictError(f"You have {len(kept)} saved views, as many as one keeps. Delete one first.")
        _require_free(kept, name)
        return SavedView.objects.create(workspace=workspace, person=actor, name=name, query=query)


def saved_view_rename(*, actor: Person, workspace: Workspace, view_id: int, name: str) -> SavedView:
    """Give a view another name.

    Raises:
        NotFoundError: the actor has no such view.
        InvalidRequestError: the name says nothing, or is too long.
        ConflictError: another view of theirs has the name.
    """
    standing_of(actor, workspace)
    name = _checked(name)
    with transaction.atomic():
        kept = _kept(actor, workspace)
        view = _named(kept, view_id)
        _require_free([other for other in kept if other.pk != view_id], name)
        view.name = name
        view.save(update_fields=["name"])
        return view


def saved_view_delete(*, actor: Person, workspace: Workspace, view_id: int) -> None:
    """Delete a view.

    Raises:
        NotFoundError: the actor has no such view.
    """
    standing_of(actor, workspace)
    with transaction.atomic():
        _named(_kept(actor, workspace), view_id).delete()


def _kept(actor: Person, workspace: Workspace) -> list[SavedView]:
    """Return a person's views, with the person's row locked: of two requests at once the second sees the first's."""
    Person.objects.select_for_update().get(pk=actor.pk)
    return list(SavedView.objects.filter(workspace=workspace, person=actor))


def _named(kept: list[SavedView], view_id: int) -> SavedView:
    found = next((view for view in kept if view.pk == view_id), None)
    if found is None:
        raise NotFoundError(f"You have no saved view {view_id} in this workspace.")
    return found


def _checked(name: str, query: str | None = None) -> str:
    name, problems = " ".join(name.split()), []
    if not is_prose(name, VIEW_NAME_LENGTH):
        expected = f"1 to {VIEW_NAME_LENGTH} characters"
        problems.append(Finding("request", "request/name", "name", expected, length_of(name)))
    if query is not None and not 0 < len(query) <= QUERY_LENGTH:
        expected = f"at least one filter, and together at most {QUERY_LENGTH} characters"
        problems.append(Finding("request", "request/filters", "filters", expected, length_of(query)))
    if problems:
        raise InvalidRequestError(tuple(problems))
    return name


def _require_free(others: list[SavedView], name: str) -> None:
    if any(other.name == name for other in others):
        raise ConflictError(f"You have a saved view {name} already. Choose another name.")
