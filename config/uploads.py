"""Spools large files of a request to disk under no name: whatever ends the process, nothing of them stays behind."""

import tempfile
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler


class UnnamedFileUploadHandler(FileUploadHandler):
    """Like the framework's handler of temporary files, which leaves them to whoever finds them when web is killed."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Begin the file that the next pieces belong to."""
        super().new_file(*args, **kwargs)
        self.file = UploadedFile(
            tempfile.TemporaryFile(),  # noqa: SIM115 - the request closes it
            self.file_name,
            self.content_type,
            0,
            self.charset,
            self.content_type_extra,
        )

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Add a piece."""
        self.file.write(raw_data)

    def file_complete(self, file_size: int) -> "UploadedFile[bytes]":
        """Return the whole file, to be read from its beginning."""
        self.file.seek(0)
        self.file.size = file_size
        return self.file
