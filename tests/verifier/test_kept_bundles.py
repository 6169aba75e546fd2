"""Bundles and verifiers of different versions: what somebody kept for years still verifies.

``kept/`` holds bundles that an earlier version of this program exported from its demo, each with the verifier of then:
of the whole workspace, and of D-0003, which is in force.
"""

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from planner.verifier.verify import verify
from tests.verifier.making import KEY, written
from tests.verifier.test_list_of_files import listed

KEPT = Path(__file__).parent / "kept"
KEPT_KEY = "topogate/demo/4560138e4b3d597e+94caecbf+ARLRcCpCv0nntYW5LFADRWhs0Ms7p0VXFU6mzS/yN2t8"
NAMES = ("decision", "workspace")


def verified(verifier: bytes, bundle: bytes, key: str, folder: Path) -> tuple[int, str]:
    """Run a verifier as an outsider does; return its exit code and what it says."""
    (folder / "verify.py").write_bytes(verifier)
    (folder / "bundle.zip").write_bytes(bundle)
    command = [sys.executable, "-I", str(folder / "verify.py"), str(folder / "bundle.zip"), "--key", key]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout


def verifier_of(name: str) -> bytes:
    """Return the verifier that lies in a kept bundle."""
    return zipfile.ZipFile(KEPT / f"{name}.zip").read("verify.py")


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_bundle_verifies_with_the_verifier_that_lies_in_it(name: str, tmp_path: Path) -> None:
    bundle = (KEPT / f"{name}.zip").read_bytes()
    code, says = verified(verifier_of(name), bundle, KEPT_KEY, tmp_path)
    assert (code, says.startswith("VERIFIED: 36 entries of topogate/demo/")) == (0, True), says


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_bundle_verifies_with_the_verifier_of_today(name: str) -> None:
    with (KEPT / f"{name}.zip").open("rb") as file:
        code, headline, _, unchecked = verify(file, [KEPT_KEY])
    assert code == 0, headline
    assert unchecked[-1] == "files that are not here: 1"


def test_a_kept_bundle_that_changed_is_not_verified_today() -> None:
    raw = bytearray((KEPT / "workspace.zip").read_bytes())
    raw[5_000] ^= 1
    assert verify(io.BytesIO(raw), [KEPT_KEY])[0] in (1, 2)


def test_a_bundle_of_today_verifies_with_an_earlier_verifier(tmp_path: Path) -> None:
    """Files that were left out too, of which an earlier verifier knows nothing."""
    code, says = verified(verifier_of("workspace"), written(listed()), KEY, tmp_path)
    assert (code, says.startswith("VERIFIED")) == (0, True), says
