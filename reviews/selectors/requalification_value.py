"""What has to be measured again in values of JSON: the planner's own, with what told each key and its team."""

from typing import Any

from planner.requalification.written import requalification_markdown, requalification_tree
from planner.times import time_text
from reviews.policies.document import team_title
from reviews.selectors.requalification import RequalificationView

__all__ = ["requalification_text", "requalification_value"]


def requalification_value(found: RequalificationView) -> dict[str, Any]:
    """Return the answer as page and API write it (``topogate.requalification/v1``)."""
    tree = requalification_tree(found.answer)
    told = zip(tree["changes"], found.told, strict=True)
    reported = found.reported_at
    return {
        **tree,
        "decision": found.page.number,
        "revision": found.base.number,
        "compared": None if found.compared is None else found.compared.number,
        "reported_at": None if reported is None else time_text(reported.replace(microsecond=0)),
        "ages_out_at": None if found.next_age is None else found.next_age.at,
        "changes": [{**change, "because": each.because, "team": each.team} for change, each in told],
        "trials_told": not found.too_large,
    }


def requalification_text(found: RequalificationView) -> str:
    """Return the answer as page and API give it in Markdown, with the team that owns each key."""
    title = f"{found.page.label} r{found.base.number}: measure again"
    return requalification_markdown(found.answer, title, [team_title(each.team) for each in found.told])
