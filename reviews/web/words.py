"""Verdicts and states in words: icon, word and class, said in one place. The three verdicts differ in form first."""

from dataclasses import dataclass

from planner.records.plan import DecisionWord, Outcome, State


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its icon and class (``pass``, ``fail``, ``unk``, ``na`` or ``plain``)."""

    text: str
    icon: str
    css: str

    @property
    def icon_css(self) -> str:
        """The class that gives an icon alone the verdict's colour."""
        return f"v-{self.css}"


OUTCOMES: dict[Outcome, Word] = {
    "PASS": Word("Pass", "pass", "pass"),
    "FAIL": Word("Fail", "fail", "fail"),
    "UNKNOWN": Word("Unknown", "unk", "unk"),
    "NOT_APPLICABLE": Word("Not applicable", "na", "na"),
    "NOT_DECLARED": Word("Not declared", "nd", "nd"),
}

STATES: dict[State, Word] = {
    "ELIGIBLE": Word("Eligible", "pass", "pass"),
    "REJECTED": Word("Rejected", "fail", "fail"),
    "INCONCLUSIVE": Word("Inconclusive", "unk", "unk"),
}
SELECTED = Word("Selected", "pass", "pass")

DECISIONS: dict[DecisionWord, Word] = {
    "SELECT_TOPOLOGY": Word("Selected topology", "pass-o", "pass"),
    "NO_ELIGIBLE_TOPOLOGY": Word("No eligible topology", "fail-o", "fail"),
    "INCONCLUSIVE": Word("Inconclusive", "unk", "unk"),
}

THEMES = ("light", "dark")

TERMS: dict[str, str] = {
    "rank": "one process on one device",
    "island": "devices joined by the fastest links",
    "serving group": "the ranks that answer a request together; one lost rank loses the group",
    "blast radius": "what one failure takes down at once",
    "headroom": "what is kept free on purpose",
    "TTFT": "time to first token",
    "TPOT": "time per output token, without the first",
    "ITL": "time between two tokens of one answer",
    "E2E": "time from sending a request to its last token",
    "GiB": "2^30 bytes",
    "output throughput": "output tokens of all devices together, divided by the time of the window",
    "load point": "one way of loading the deployment, for example 64 requests in flight",
    "stale": "not wrong, but given for something else than what stands here now",
    "charged device": "a device that is paid for: ranks, spares and what their node cannot use otherwise",
}
"""Terms that pages define where they first use them."""


def state_word(state: State, *, selected: bool = False) -> Word:
    """Return the word of a candidate's state; the selected one has its own."""
    return SELECTED if selected else STATES[state]
