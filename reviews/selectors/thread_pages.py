"""Which threads of a decision are read: all, a page of them, or some by their numbers."""

from dataclasses import dataclass

from django.db.models import QuerySet

from reviews.models import Thread


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which threads are read: the newest ``most`` below number ``older_than``, or those of some ``numbers``."""

    most: int | None = None
    older_than: int | None = None
    numbers: frozenset[int] | None = None

    def of(self, rows: QuerySet[Thread]) -> tuple[list[Thread], int | None]:
        """Return them in order of their numbers, and what the next page begins below, None after the last one."""
        if self.numbers is not None:
            rows = rows.filter(number__in=self.numbers)
        if self.older_than is not None:
            rows = rows.filter(number__lt=self.older_than)
        found = list(rows.order_by("-number")[: None if self.most is None else self.most + 1])
        shown = found[: self.most]
        return shown[::-1], shown[-1].number if len(found) > len(shown) else None


ALL = Wanted()
