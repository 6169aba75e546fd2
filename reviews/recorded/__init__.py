"""What is stored of every act beside the log, compared with the entries that recorded it.

A kind of fact says which entries record it, what such an entry says of it and what a stored row says. Every recorded
fact has to have its row, and every row its entry. A field that an entry does not have (entries of earlier versions have
fewer) is not compared. Sign-offs, comments and blobs are compared by ``reviews.verification``.
"""
