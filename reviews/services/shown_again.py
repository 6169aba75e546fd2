"""How long a form that is sent again shows the secret that it made: long enough for a reload after a lost answer."""

from datetime import datetime, timedelta

from reviews.clock import database_now, when
from reviews.errors import ConflictError

SHOWN_AGAIN = timedelta(hours=1)
"""A lost answer is asked for again within minutes. A form that a browser restores much later is another matter."""


def shown_again_require(*, made_at: datetime, what: str, instead: str) -> None:
    """Refuse to show a secret once more when what has it was made long ago; ``instead`` says what to do.

    Raises:
        ConflictError: it was made more than ``SHOWN_AGAIN`` ago.
    """
    if database_now() - made_at > SHOWN_AGAIN:
        raise ConflictError(
            f"This form made {what} at {when(made_at)} UTC, and shows it again for an hour only. {instead}"
        )
