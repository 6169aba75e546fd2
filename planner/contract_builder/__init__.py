"""Write a contract by form: what fields there are, what a form changes, and where their values may come from.

Rules kept: fields, their kinds and their alternatives come from the records that read the document, so a new field
needs nothing here; whether a contract is right is said by ``planner.intake`` alone, of the very bytes that would be
stored; a value that does not fit stays in the document as it was typed, so nothing is lost and intake can name it.

Not handled: storing drafts, pages, and what a limit should be: limits start empty.
"""
