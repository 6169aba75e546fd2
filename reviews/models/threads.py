"""Threads of comments about one item of a decision, and the drafts of comments that nobody else sees yet.

What was published only grows. A draft is its writer's alone, changed in place, and gone when it is published.
"""

from django.db import models
from django.db.models import Q

from reviews.models.decisions import Decision, Revision
from reviews.models.documents import Blob
from reviews.models.fields import DIGEST_LENGTH
from reviews.models.people import Person

ANCHOR_LENGTH = 512


class AnchorKind(models.TextChoices):
    """What a thread is about. Names: ``trial~gate~limit``, trial, ``trial~rank``, trial, and JSON pointers.

    The pointer of an identity key stands below ``/identity``.
    """

    GATE = "gate", "Gate"
    TRIAL = "trial", "Trial"
    RANK = "rank", "Rank"
    CANDIDATE = "candidate", "Candidate"
    IDENTITY = "identity", "Identity key"
    CONTRACT = "contract", "Contract field"


class Thread(models.Model):
    """Comments about one item as it was in one revision; ``item`` holds its canonical JSON and names its digest.

    ``team`` is the one that owns the item, or the one whose requirement a blocking thread blocks; empty for neither.
    """

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="threads")
    number = models.PositiveIntegerField()
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="threads")
    kind = models.CharField(max_length=12, choices=AnchorKind)
    name = models.CharField(max_length=ANCHOR_LENGTH)
    item = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    team = models.CharField(max_length=64, blank=True)
    is_blocking = models.BooleanField()
    opener = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="threads")
    opened_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["decision", "number"], name="thread_number_unique"),
            models.CheckConstraint(condition=Q(number__gte=1), name="thread_number_from_one"),
            models.CheckConstraint(condition=Q(kind__in=AnchorKind.values), name="thread_kind_known"),
            models.CheckConstraint(condition=~Q(name=""), name="thread_item_named"),
            models.CheckConstraint(condition=Q(is_blocking=False) | ~Q(team=""), name="thread_blocks_a_team"),
        )
        ordering = ("decision", "number")

    def __str__(self) -> str:
        return f"thread {self.number} of {self.decision}"


class Comment(models.Model):
    """What somebody published in a thread, numbered from one. ``entry`` is the seq of the publication's entry."""

    thread = models.ForeignKey(Thread, on_delete=models.PROTECT, related_name="comments")
    number = models.PositiveIntegerField()
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="comments")
    text = models.TextField()
    entry = models.BigIntegerField()
    posted_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["thread", "number"], name="comment_number_unique"),
            models.CheckConstraint(condition=Q(number__gte=1), name="comment_number_from_one"),
            models.CheckConstraint(condition=~Q(text=""), name="comment_text_given"),
        )
        ordering = ("thread", "number")

    def __str__(self) -> str:
        return f"comment {self.number} in {self.thread}"


class Mention(models.Model):
    """A member named in a comment by ``@login``."""

    comment = models.ForeignKey(Comment, on_delete=models.PROTECT, related_name="mentions")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="mentions")

    class Meta:
        constraints = (models.UniqueConstraint(fields=["comment", "person"], name="mention_once"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.person} in {self.comment}"


class ThreadResolution(models.Model):
    """A thread that is done. ``reason`` is empty where its opener says so without one."""

    thread = models.OneToOneField(Thread, on_delete=models.PROTECT, related_name="resolution")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField(blank=True)
    resolved_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"resolution of {self.thread}"


class Publication(models.Model):
    """A publication that carried an idempotency key. ``entry`` is the seq of its entry, which its comments name."""

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="+")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    key = models.CharField(max_length=128)
    request_sha256 = models.CharField(max_length=DIGEST_LENGTH)
    entry = models.BigIntegerField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["decision", "person", "key"], name="publication_key_once"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return self.key


class CommentDraft(models.Model):
    """A comment that is not published: a reply to ``thread``, or the first one of a thread still to be opened."""

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="comment_drafts")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="comment_drafts")
    thread = models.ForeignKey(Thread, on_delete=models.PROTECT, null=True, related_name="drafts")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=12, choices=AnchorKind, blank=True)
    name = models.CharField(max_length=ANCHOR_LENGTH, blank=True)
    team = models.CharField(max_length=64, blank=True)
    is_blocking = models.BooleanField(default=False)
    text = models.TextField()
    changed_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(thread__isnull=False, revision__isnull=True, kind="", name="", is_blocking=False)
                | Q(thread__isnull=True, revision__isnull=False, kind__in=AnchorKind.values) & ~Q(name=""),
                name="comment_draft_of_one_thread",
            ),
        )
        indexes = (models.Index(fields=["decision", "person"], name="comment_draft_by_writer"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return f"comment draft {self.pk} on {self.decision}"
