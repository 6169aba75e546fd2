"""Texts that leave an importer hold no secret and nothing that a page or terminal acts on."""

import pytest

from planner.importers.scrubbed import last_part, names_secret, scrubbed, sentence_of


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        pytest.param("https://alice:word@example.org/v1", "https://[removed]example.org/v1", id="user in an address"),
        pytest.param("Authorization: Bearer abc.def", "Authorization: Bearer [removed]", id="bearer"),
        pytest.param("sk-abcdefgh12345678", "[removed]", id="key of a service"),
        pytest.param("hf_abcdefghij1234567890abcd", "[removed]", id="token of a hub"),
        pytest.param("serve --api-key hush --port 80", "serve --[removed] --port 80", id="option"),
        pytest.param("https://x.org/a?token=hush&b=1", "https://x.org/a?[removed]&b=1", id="query"),
        pytest.param("/home/alice/models/m", "/home/[removed]/models/m", id="account"),
        pytest.param("a\x1b[31m\nb", "a [31m b", id="control characters"),
    ],
)
def test_secrets_are_taken_out(text: str, clean: str) -> None:
    assert scrubbed(text) == clean
    assert sentence_of(text) == clean


@pytest.mark.parametrize("text", ["hf_quant_config.json", "task-force-8b", "org/model-8B-Instruct", "token budget"])
def test_plain_texts_stay(text: str) -> None:
    assert scrubbed(text) == text


def test_long_texts_are_cut() -> None:
    assert len(scrubbed("a" * 5000)) == 200
    assert len(sentence_of("a" * 5000)) == 600


@pytest.mark.parametrize(
    ("path", "last"),
    [("/data/models/model-8b/", "model-8b"), ("~/m", "m"), ("org/model-8b", "org/model-8b"), ("/", "/")],
)
def test_a_path_on_a_machine_gives_its_last_part(path: str, last: str) -> None:
    assert last_part(path) == last


@pytest.mark.parametrize(
    ("key", "secret"), [("api_key", True), ("HF_TOKEN", True), ("tokenizer", False), ("max_tokens", False)]
)
def test_keys_that_hold_credentials_are_told_by_their_names(key: str, secret: bool) -> None:
    assert names_secret(key) is secret
