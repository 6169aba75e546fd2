"""A log that outsiders can check: Merkle tree, proofs, signed notes and checkpoints, as pure functions over bytes.

``merkle`` hashes and proves as RFC 6962 and RFC 9162 lay down, ``notes`` signs text in the signed-note form and
``checkpoints`` states size and root of a log in the tlog-checkpoint form (both C2SP). Nothing here knows the database.
"""
