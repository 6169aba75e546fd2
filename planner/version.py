"""The planner's version: part of every plan, so that equal inputs and equal versions give equal bytes.

It changes whenever any document could be planned differently than before.
"""

PLANNER_VERSION = "1.2.0"
