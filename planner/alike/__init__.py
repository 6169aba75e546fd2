"""Deciding among very many trials: gates are asked once for each kind of trial, and numbers tell the trials apart.

The plain way is ``planner.evaluate``: every gate looks at every trial. Trials of one campaign mostly differ in numbers
alone, and nearly all that gates say follows from the rest. So gates are asked what no number moves, of the first trial
of a kind, and what a number moves is computed for each, exactly. Trials of all kinds are read together, and what no
placement moves is worked out once for them (``reading``).

Why both ways agree: what is no number or time is equal (``form``); every consistency identity surely holds
(``identities``); limits, keys and frontier figures that follow from numbers are the same arithmetic on the same numbers
(``measures``, ``capacity``, ``limits``, ``values``); gates that are not known here are asked; and a trial whose numbers
leave any of it open is judged the plain way (``kin``, ``verdicts``). Property tests hold the two to the same verdicts.

A plan has a sentence for every limit of every trial, so its gates are all asked; but the identities of its trials are
checked together (``held``).
"""

from planner.alike.glances import Figure, Glance, Member, figures_of, outcomes_of
from planner.alike.held import check_together
from planner.alike.verdicts import Verdicts, weigh_all

__all__ = ["Figure", "Glance", "Member", "Verdicts", "check_together", "figures_of", "outcomes_of", "weigh_all"]
