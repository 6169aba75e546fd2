"""Lengths and forms that several tables share, and the field of a secret."""

import logging
from typing import Any

from django.core.validators import RegexValidator
from django.db import models

from reviews.errors import printable
from reviews.sealing import SealBrokenError, seal, unseal

logger = logging.getLogger(__name__)

DIGEST_LENGTH = len("sha256:") + 64
NO_DIGEST = "sha256:" + "0" * 64
"""Stands where a chain begins: no entry hashes to it."""


def asked_digest(text: str) -> str:
    """Return what an address names as a digest, as it can be looked for: no database takes every text."""
    return printable(text, DIGEST_LENGTH + 1)


SLUG_LENGTH = 40
slug_validator = RegexValidator(r"^[a-z0-9][a-z0-9-]{0,39}\Z", "Expected lower-case letters, digits and hyphens.")


class SealedField(models.TextField):  # type: ignore[type-arg] # takes none at run time
    """A secret that lies sealed in the database; one that no key opens any more is read as an empty text."""

    def __init__(self, *args: Any, purpose: str, **kwargs: Any) -> None:
        self.purpose = purpose
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        """Name the purpose in migrations."""
        name, path, args, kwargs = super().deconstruct()
        return name, path, args, {**kwargs, "purpose": self.purpose}

    def get_prep_value(self, value: Any) -> Any:
        """Seal what is written."""
        return seal(value, self.purpose) if value else value

    def from_db_value(self, value: str | None, expression: object, connection: object) -> str | None:
        """Open what is read."""
        if not value:
            return value
        try:
            return unseal(value, self.purpose)
        except SealBrokenError:
            logger.error("a secret of %s was sealed under a SECRET_KEY that is not known any more", self.model.__name__)
            return ""
