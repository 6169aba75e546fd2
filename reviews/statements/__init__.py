"""What outsiders are told in a form that their tools read: in-toto statements in signed DSSE envelopes.

``intoto`` makes statements and envelopes, ``planning`` states what gates and planner said of a revision, ``review`` who
approved what was put into force. Pure functions over plain values.
"""
