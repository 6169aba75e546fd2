"""What ``collectstatic`` makes of a small tree of static files."""

import json
from pathlib import Path

import brotli
import pytest
from django.core.management import call_command
from pytest_django.fixtures import Settings


@pytest.fixture
def collected(tmp_path: Path, settings: Settings) -> Path:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "js").mkdir(parents=True)
    (source / "js" / "app.js").write_text('import { draw } from "./charts.js";\n' + "draw();\n" * 200)
    (source / "js" / "charts.js").write_text("export function draw() {}\n")
    settings.STATICFILES_DIRS = [source]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = target
    settings.STORAGES = {"staticfiles": {"BACKEND": "config.static_storage.HashedStaticFilesStorage"}}
    call_command("collectstatic", verbosity=0, interactive=False)
    return target


def hashed(collected: Path, name: str) -> str:
    return str(json.loads((collected / "staticfiles.json").read_text())["paths"][name])


def test_module_imports_another_by_its_hashed_name(collected: Path) -> None:
    text = (collected / hashed(collected, "js/app.js")).read_text()
    assert f'from "./{Path(hashed(collected, "js/charts.js")).name}"' in text


def test_compressed_copy_holds_the_same_bytes(collected: Path) -> None:
    file = collected / hashed(collected, "js/app.js")
    assert brotli.decompress(file.with_name(f"{file.name}.br").read_bytes()) == file.read_bytes()


def test_plain_name_is_not_served(collected: Path) -> None:
    assert not (collected / "js" / "app.js").exists()
