"""How often one may ask: reads and submissions are counted apart, per token, else per person, else per address. A check
of a slot is a read, though it sends a body: routers ask it all the time, and nothing is written.

Counted in the memory of each web process, so that a broker or database in trouble stops nobody; with several
processes the limit that is met lies between the rate and the rate times the number of processes.
"""

from django.core.cache import caches
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from reviews.api.authentication import grant
from reviews.models import Person


class CallerThrottle(SimpleRateThrottle):
    """Counts one kind of request of one caller."""

    cache = caches["process"]

    def get_cache_key(self, request: Request, view: object) -> str | None:
        """Return what the request is counted under, None when it is of the other kind."""
        is_read = request.method in SAFE_METHODS or getattr(view, "only_reads", False)
        if is_read != (self.scope == "read"):
            return None
        token = grant(request)
        if token is not None:
            caller = f"token-{token.token_id}"
        elif isinstance(request.user, Person):
            caller = f"person-{request.user.pk}"
        else:
            # The address of the connection; X-Forwarded-For says what the client likes.
            caller = f"address-{request.META.get('REMOTE_ADDR', '')}"
        return self.cache_format % {"scope": self.scope, "ident": caller}


class ReadThrottle(CallerThrottle):
    """Requests that change nothing."""

    scope = "read"


class SubmitThrottle(CallerThrottle):
    """Requests that make the server read documents."""

    scope = "submit"


class ObserveThrottle(CallerThrottle):
    """Reports of collectors, which are many and small."""

    scope = "observe"


class ReportThrottle(CallerThrottle):
    """Hosts that say what they are: all of a fleet with one token, each once a minute."""

    scope = "report"
