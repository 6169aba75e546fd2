"""What an export holds: the log with its proofs, signed statements, documents, and forms that people read.

``archive`` writes the zip, ``log_files`` the entries, ``report`` and ``record`` what people read, ``tables`` CSV,
``readme`` what proves each of them.
``docs/adr/0019`` says why it looks as it does; ``planner/verifier/verify.py`` checks it.
"""
