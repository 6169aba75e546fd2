"""The views of the inbox that a person saved. Nobody else sees them."""

from dataclasses import dataclass

from reviews.models import Person, SavedView, Workspace


@dataclass(frozen=True, slots=True)
class SavedViewRow:
    """One view; ``query`` is the query of the inbox's address, without the question mark."""

    id: int
    name: str
    query: str


def saved_view_rows(*, actor: Person, workspace: Workspace) -> tuple[SavedViewRow, ...]:
    """Return a person's views of a workspace in order of their names."""
    views = SavedView.objects.filter(workspace=workspace, person=actor).order_by("name", "pk")
    return tuple(SavedViewRow(view.pk, view.name, view.query) for view in views)
