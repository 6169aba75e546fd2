"""Strict readers of the environment, and the address that decides about transport."""

import re
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

env = environ.FileAwareEnv()
_SWITCH = {"true": True, "1": True, "false": False, "0": False, "": False}


def switch(name: str) -> bool:
    """Read a switch that is off unless it is set; the library's own reader takes every other word for off."""
    text = env.str(name, default="")
    if text.lower() not in _SWITCH:
        raise ImproperlyConfigured(f"{name}: expected true or false, found {text!r}")
    return _SWITCH[text.lower()]


def seconds(name: str, default: float) -> float:
    """Read a span of time in seconds; the library's own reader drops whatever is no digit."""
    text = env.str(name, default="")
    if text and not re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", text):
        raise ImproperlyConfigured(f"{name}: expected seconds, such as 30 or 0.5, found {text!r}")
    return float(text) if text else default


def days(name: str, default: int) -> int:
    """Read a span of time in whole days, at least one."""
    text = env.str(name, default="")
    if text and not re.fullmatch(r"[1-9][0-9]{0,4}", text):
        raise ImproperlyConfigured(f"{name}: expected days, such as 90, found {text!r}")
    return int(text) if text else default


def mebibytes(name: str, default: int) -> int:
    """Read a size in whole MiB, at least one."""
    text = env.str(name, default="")
    if text and not re.fullmatch(r"[1-9][0-9]{0,6}", text):
        raise ImproperlyConfigured(f"{name}: expected MiB, such as 1024, found {text!r}")
    return int(text) if text else default


PUBLIC_URL = env.str("PUBLIC_URL", default="http://localhost:8000").rstrip("/")
PUBLIC = urlsplit(PUBLIC_URL)
if PUBLIC.scheme not in ("http", "https") or not PUBLIC.hostname:
    raise ImproperlyConfigured(f"PUBLIC_URL: expected http(s)://host, found {PUBLIC_URL!r}")
HTTPS = PUBLIC.scheme == "https"
