"""Every kind of fact that is compared, in the order in which what is left of them is told."""

from reviews.recorded.acts import OF_ACTS
from reviews.recorded.decisions import OF_DECISIONS
from reviews.recorded.fact import Kind
from reviews.recorded.signing import OF_SIGNING

KINDS: tuple[Kind, ...] = (*OF_DECISIONS, *OF_ACTS, *OF_SIGNING)

OF_ACTION: dict[str, tuple[Kind, ...]] = {
    action: tuple(kind for kind in KINDS if action in (*kind.actions, *kind.perhaps))
    for action in sorted({action for kind in KINDS for action in (*kind.actions, *kind.perhaps)})
}
"""Action -> what its entries record."""
