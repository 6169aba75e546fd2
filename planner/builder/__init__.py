"""The evidence builder: files of benchmark tools in, one evidence document out, with a person's decisions between.

``Draft`` holds what was read and decided; every function here is pure and gives a new draft or an answer about one.
Files are grouped into trials (``proposed``), arranged by a person (``move_run`` and its like), completed by answers
(``answer``, ``confirm``, ``settle``), looked at (``state_of``) and made a document (``assemble``). Nothing is filled
in that neither a file nor a person says.
"""

from planner.builder.answering import answer, confirm, pseudonymise, settle, unanswer, unsettle
from planner.builder.assembly import assemble
from planner.builder.drafts import draft_bytes, new_draft, read_draft
from planner.builder.editing import (
    Added,
    add_files,
    decide_held,
    leave_out,
    merge_trials,
    move_run,
    new_trial,
    new_window,
    remove_file,
    remove_trial,
    remove_window,
    rename_trial,
    rename_window,
    set_load_point,
    split_trial,
    take_back,
)
from planner.builder.files import file_id, file_of, read_file, run_of
from planner.builder.grouping import proposed
from planner.builder.overview import state_of
from planner.builder.records import Draft, DraftFile
from planner.builder.state import Assembly, DraftState

__all__ = [
    "Added",
    "Assembly",
    "Draft",
    "DraftFile",
    "DraftState",
    "add_files",
    "answer",
    "assemble",
    "confirm",
    "decide_held",
    "draft_bytes",
    "file_id",
    "file_of",
    "leave_out",
    "merge_trials",
    "move_run",
    "new_draft",
    "new_trial",
    "new_window",
    "proposed",
    "pseudonymise",
    "read_draft",
    "read_file",
    "remove_file",
    "remove_trial",
    "remove_window",
    "rename_trial",
    "rename_window",
    "run_of",
    "set_load_point",
    "settle",
    "split_trial",
    "state_of",
    "take_back",
    "unanswer",
    "unsettle",
]
