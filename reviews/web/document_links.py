"""Where a JSON pointer of a plan leads: the page of the contract or the evidence of that revision."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from planner.pointers import steps
from planner.records.evidence import Evidence

OF_EVIDENCE = frozenset(Evidence.__struct_fields__) - {"schema"}


@dataclass(frozen=True, slots=True)
class DocumentLinks:
    """Addresses of the pages of both documents of one revision."""

    contract: str
    evidence: str
    revision: int

    def to(self, pointer: str) -> str:
        """Return the address at which the node of a pointer is shown; empty for what is no pointer."""
        path = steps(pointer)
        if not path:
            return ""
        base = self.evidence if path[0] in OF_EVIDENCE else self.contract
        return f"{base}{place_query(pointer, self.revision)}"


def links_of(slug: str, number: int, revision: int) -> DocumentLinks:
    """Return where both documents of a revision are shown."""
    contract, evidence = (reverse("document", args=[slug, number, kind]) for kind in ("contract", "evidence"))
    return DocumentLinks(contract, evidence, revision)


def place_query(pointer: str, revision: int, page: int | None = None) -> str:
    """Return the query that shows a pointer, and the place in the page where it stands."""
    pairs: list[tuple[str, str | int]] = [("revision", revision)]
    pairs += [("at", pointer)] if pointer else []
    pairs += [("page", page)] if page and page > 1 else []
    return f"?{urlencode(pairs, safe='/~')}#here"
