"""What people set for themselves: how they look at a workspace. Nothing that is decided depends on it."""

from django.db import models
from django.db.models import Q

from reviews.models.people import Person, Workspace

VIEW_NAME_LENGTH = 60


class SavedView(models.Model):
    """A filter of the inbox that a person gave a name; ``query`` is the query of the inbox's address."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="saved_views")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="saved_views")
    name = models.CharField(max_length=VIEW_NAME_LENGTH)
    query = models.CharField(max_length=2000)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["workspace", "person", "name"], name="saved_view_name_once"),
            models.CheckConstraint(condition=~Q(name=""), name="saved_view_name_given"),
        )
        ordering = ("name", "id")

    def __str__(self) -> str:
        return self.name
