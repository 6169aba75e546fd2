"""The file of a bundle that says what the others hold and what proves each of them."""

README = """\
# What is in this bundle, and what proves it

Check it before you rely on it, with a verify.py and a key that did not come in it:

    python3 -I verify.py bundle.zip --key KEY --checkpoint KEPT

Proven by the log, which chain, root and signature of `log/newest.checkpoint` prove under the key that you pinned:

- `log/entries.jsonl`, `log/payloads.jsonl`: the entries as they are stored, one a line; those of other decisions as
  leaf hashes in quotes. The rules of reviewing are replayed over them.
- `documents/`: contract, evidence, plan and policy, under the digests that the log names.
- `tables/entries.csv`, `tables/signoffs.csv`: a row for each entry that is here in full, and for each sign-off; all but
  `who`.
- `statements.jsonl`: what trials, plans and reviews came to, for other tools; signed, and compared claim by claim.

Proven by evidence and log:

- `tables/files.csv`: a row for each file that evidence names (`provenance.files`) or a diagnosis was read from; all
  but `uploaded_sha256` behind evidence and `size_bytes` behind a diagnosis.
- `files/`: those of them that were asked for, under their digests.

Vouched for by the key alone, as parts of the archive that it signed:

- `who` and the cells named above; `report.html` and `decisions/`, which say the same in words: what they say of an act
  stands in the tables.

Proven by nothing:

- `log/keys.txt`, the keys that ever signed: pin yours from elsewhere. `verify.py`: read it, or take it from a release.
- `log/proofs.jsonl`, `log/cosigned.checkpoint`: what shows single entries, and what witnesses signed, for other tools.
- `TRAILER.json`: how much there is of everything, which is counted.

Vouched for by the key alone: whoever holds the key of the log could have written something else there. The log knows
people by tokens, so the tables print both the token, which is proven, and the name, which is not.

In tables ⏎ stands for the end of a line inside of a text, and ' before a text that a spreadsheet would run. A file with
an empty `uploaded_sha256` is named by evidence and was never sent to the server that wrote this.
"""
"""What it says; the same in every bundle."""
