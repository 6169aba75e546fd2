"""Strict readers of the environment, and the address that decides about transport."""

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

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


def days(name: str, default: int, *, least: int = 1) -> int:
    """Read a span of time in whole days, at least one unless less is said."""
    text = env.str(name, default="")
    if text and not (re.fullmatch(r"0|[1-9][0-9]{0,4}", text) and int(text) >= least):
        raise ImproperlyConfigured(f"{name}: expected days, such as 90, found {text!r}")
    return int(text) if text else default


def mebibytes(name: str, default: int) -> int:
    """Read a size in whole MiB, at least one."""
    text = env.str(name, default="")
    if text and not re.fullmatch(r"[1-9][0-9]{0,6}", text):
        raise ImproperlyConfigured(f"{name}: expected MiB, such as 1024, found {text!r}")
    return int(text) if text else default


def hour(name: str, default: int) -> int:
    """Read an hour of the day, 0 to 23."""
    text = env.str(name, default="")
    if text and not re.fullmatch(r"[01]?[0-9]|2[0-3]", text):
        raise ImproperlyConfigured(f"{name}: expected an hour from 0 to 23, found {text!r}")
    return int(text) if text else default


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where email is handed over: by plain SMTP, with STARTTLS, or with TLS from the start."""

    host: str
    port: int
    user: str
    password: str
    uses_starttls: bool
    uses_tls: bool


MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtp+ssl": 465}


def mail_server(name: str) -> MailServer:
    """Read the address of a mail server; without one, its parts are empty. The password is never repeated."""
    text = env.str(name, default="")
    url = urlsplit(text)
    try:
        port = url.port or MAIL_PORTS.get(url.scheme, 0)
    except ValueError:
        port = 0
    if text and (not port or not url.hostname or url.path.strip("/") or url.query or url.fragment):
        raise ImproperlyConfigured(f"{name}: expected smtp://, smtp+tls:// or smtp+ssl://user:password@host:port")
    return MailServer(
        host=url.hostname or "",
        port=port,
        user=unquote(url.username or ""),
        password=unquote(url.password or ""),
        uses_starttls=url.scheme == "smtp+tls",
        uses_tls=url.scheme == "smtp+ssl",
    )


def http_proxy(name: str) -> tuple[str, int] | None:
    """Read where a proxy listens; None without one."""
    text = env.str(name, default="")
    found = re.fullmatch(r"http://([A-Za-z0-9.-]+):([0-9]{1,5})/?", text)
    if text and not (found and 0 < int(found[2]) < 2**16):
        raise ImproperlyConfigured(f"{name}: expected http://host:port, found {text!r}")
    return (found[1], int(found[2])) if found else None


PUBLIC_URL = env.str("PUBLIC_URL", default="http://localhost:8000").rstrip("/")
PUBLIC = urlsplit(PUBLIC_URL)
if PUBLIC.scheme not in ("http", "https") or not PUBLIC.hostname:
    raise ImproperlyConfigured(f"PUBLIC_URL: expected http(s)://host, found {PUBLIC_URL!r}")
HTTPS = PUBLIC.scheme == "https"
