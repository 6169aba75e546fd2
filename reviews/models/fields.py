"""Lengths and forms that several tables share."""

from django.core.validators import RegexValidator

DIGEST_LENGTH = len("sha256:") + 64
NO_DIGEST = "sha256:" + "0" * 64
"""Stands where a chain begins: no entry hashes to it."""

SLUG_LENGTH = 40
slug_validator = RegexValidator(r"^[a-z0-9][a-z0-9-]{0,39}\Z", "Expected lower-case letters, digits and hyphens.")
