"""Workspaces, people, teams.

A person is known to the audit log by a token only. The printed name and the salt that the token was made with live
here and can be erased without touching the log.
"""

import hashlib
import secrets
import uuid
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models import Q

from reviews.models.fields import DIGEST_LENGTH, SLUG_LENGTH, slug_validator


class PersonManager(BaseUserManager["Person"]):
    """Creates people with a salted token."""

    def create_user(self, login: str, password: str | None = None, **fields: Any) -> "Person":
        """Create a person who may log in; without a password, nobody can log in as them."""
        person = self.model(login=login, **fields)
        person.set_password(password)
        person.save(using=self._db)
        return person

    def create_superuser(self, login: str, password: str | None = None, **fields: Any) -> "Person":
        """Create a person for Django's ``createsuperuser``. The flag exempts from no rule of reviewing."""
        return self.create_user(login, password, is_superuser=True, **fields)


def token_label(token: str) -> str:
    """Return what stands for a person in texts that are kept for good: part of their token, never a name."""
    return f"person-{token.removeprefix('sha256:')[:16]}"


def _new_salt() -> bytes:
    return secrets.token_bytes(32)


class Person(AbstractBaseUser, PermissionsMixin):
    """Somebody who can log in."""

    uid = models.UUIDField(default=uuid.uuid4, editable=False)
    login = models.CharField(max_length=SLUG_LENGTH, validators=[slug_validator])
    display_name = models.CharField(max_length=120)
    email = models.EmailField(blank=True)
    is_active = models.BooleanField(default=True)
    salt = models.BinaryField(default=_new_salt, null=True, editable=False)
    token = models.CharField(max_length=DIGEST_LENGTH, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = PersonManager()

    USERNAME_FIELD = "login"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["display_name"]

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["login"], name="person_login_unique"),
            models.UniqueConstraint(fields=["token"], name="person_token_unique"),
            models.UniqueConstraint(fields=["uid"], name="person_uid_unique"),
        )
        ordering = ("login",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.token and self.salt is not None:
            self.token = "sha256:" + hashlib.sha256(bytes(self.salt) + self.uid.bytes).hexdigest()

    def __str__(self) -> str:
        return self.display_name


class Workspace(models.Model):
    """A team's own room: its decisions, its policy, its people, its audit log."""

    slug = models.CharField(max_length=SLUG_LENGTH, validators=[slug_validator])
    title = models.CharField(max_length=120)
    log_origin = models.CharField(max_length=120)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["slug"], name="workspace_slug_unique", violation_error_message="This name is taken."
            ),
            models.UniqueConstraint(fields=["log_origin"], name="workspace_log_origin_unique"),
        )
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.slug


class Role(models.TextChoices):
    """What a membership is for; signing comes from team seats, not from a role."""

    MEMBER = "member", "Member"
    AUTHOR = "author", "Author"
    AUDITOR = "auditor", "Auditor"
    ADMIN = "admin", "Admin"


class Membership(models.Model):
    """A person in a workspace."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="memberships")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role)
    since = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["workspace", "person"], name="membership_once_per_person"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        )
        ordering = ("workspace", "person")

    def __str__(self) -> str:
        return f"{self.person} in {self.workspace}"


class Team(models.Model):
    """A group that owns part of what is decided and signs for it."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="teams")
    slug = models.CharField(max_length=SLUG_LENGTH, validators=[slug_validator])
    title = models.CharField(max_length=120)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["workspace", "slug"], name="team_slug_unique"),)
        ordering = ("workspace", "slug")

    def __str__(self) -> str:
        return self.slug


class TeamSeat(models.Model):
    """A membership's seat in a team."""

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="seats")
    membership = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="seats")
    is_lead = models.BooleanField(default=False)
    since = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["team", "membership"], name="team_seat_once"),)
        ordering = ("team", "membership")

    def __str__(self) -> str:
        return f"{self.membership.person} for {self.team}"
