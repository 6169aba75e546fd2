"""How collected static files are stored: a hash in every name, compressed beside the original, the plain name gone.

Brotli runs below its highest setting: for the largest file that costs 11 % in size and takes 0.7 s instead of 20 s,
which whoever starts from a fresh clone would wait for.
"""

from functools import cache
from typing import Any

import brotli
from django.contrib.staticfiles.storage import HashedFilesMixin, ManifestStaticFilesStorage
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

BROTLI_QUALITY = 9


class QuickCompressor(Compressor):
    """WhiteNoise's compressor at a quality of ours."""

    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        """Return the bytes compressed."""
        return bytes(brotli.compress(data, quality=BROTLI_QUALITY))


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """The storage that ``collectstatic`` fills; our modules import one another by their hashed names.

    Only ours: among the files of installed packages are some that name modules which are not there.
    """

    patterns = (
        *ManifestStaticFilesStorage.patterns,
        ("js/*.js", HashedFilesMixin._js_module_import_aggregation_patterns[1]),  # type: ignore[attr-defined] # not in the stubs
    )

    @cache  # noqa: B019 - one storage for the life of the process, and what collectstatic has made stays as it is
    def url(self, name: str, force: bool = False) -> str:
        """Return the address of a file; a page asks for some twenty, always the same."""
        return str(super().url(name, force))

    def create_compressor(self, **kwargs: Any) -> Compressor:
        """Return the compressor for one run."""
        return QuickCompressor(**kwargs)
