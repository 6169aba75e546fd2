# Everything a developer or a reviewer starts. `make help` lists it.

PYTHON ?= python3
PORT ?= 8000
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet install --no-deps
PINNED := $(PIP) --require-hashes --only-binary :all:

export PORT

.DEFAULT_GOAL := help
.PHONY: help run test lint format fuzz flips races drill faults bench million screenshots requirements clean

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: .venv/runtime.stamp ## Start Topogate with its demo workspace on http://localhost:$(PORT); Ctrl-C stops it
	@$(BIN)/python -m config.run

test: .venv/dev.stamp ## Lint, then the whole suite on PostgreSQL and SQLite, with a real broker and a real browser
	@$(BIN)/python -m tests.chromium
	@$(MAKE) --no-print-directory lint
	@$(BIN)/python -m tests

lint: .venv/dev.stamp ## Style, types, import rules, missing migrations
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy .
	@$(BIN)/lint-imports
	@DATABASE_URL=sqlite://:memory: $(BIN)/python manage.py makemigrations --check --dry-run

format: .venv/dev.stamp ## Format the code and mend what ruff can mend
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

fuzz: .venv/dev.stamp ## Throw random documents at the intake for some minutes (not part of `make test`)
	@$(BIN)/python -m tests.fuzz.fuzz_documents 20000

races: .venv/dev.stamp ## Race a thousand sign-offs against new revisions, and 64 writers of one log, on both databases
	@TOPOGATE_RACE_APPENDS=200 $(BIN)/python -m pytest tests/reviews/test_races.py -q -k 64_writers --durations=1
	@TOPOGATE_RACE_APPENDS=200 TOPOGATE_TEST_DATABASE=sqlite $(BIN)/python -m pytest tests/reviews/test_races.py -q -k 64_writers --durations=1
	@TOPOGATE_RACE_ROUNDS=250 $(BIN)/python -m pytest tests/reviews/test_review_races.py -q --timeout=3600
	@TOPOGATE_RACE_ROUNDS=250 TOPOGATE_TEST_DATABASE=sqlite $(BIN)/python -m pytest tests/reviews/test_review_races.py -q --timeout=3600

drill: .venv/dev.stamp ## Back up under load, restore elsewhere and check it, on PostgreSQL and on SQLite
	@$(BIN)/python -m pytest tests/infrastructure/test_backup_drill.py tests/reviews/test_restores.py -q
	@TOPOGATE_TEST_DATABASE=sqlite $(BIN)/python -m pytest tests/infrastructure/test_backup_drill.py tests/reviews/test_restores.py -q

faults: .venv/dev.stamp ## Let every system call of writing entry, blob and checkpoint fail (Linux with strace; about a minute)
	@$(BIN)/python -m tests.faults.system_calls

flips: .venv/dev.stamp ## Change every byte of an exported bundle, one after another, and verify all of it each time
	@TOPOGATE_FLIP_STEP=1 $(BIN)/python -m pytest tests/verifier/test_flipped_bytes.py -q --timeout=3600

bench: .venv/dev.stamp ## Print what planning, importing, verifying, appending, observing and pages take beside plain yardsticks
	@$(BIN)/python -m bench.bytes_to_plan
	@$(BIN)/python -m bench.many_trials
	@$(BIN)/python -m bench.importing
	@$(BIN)/python -m bench.verify_bundle
	@$(BIN)/python -m bench.appends
	@$(BIN)/python -m bench.appends --no-sync
	@$(BIN)/python -m bench.pages
	@$(BIN)/python -m bench.checks
	@$(BIN)/python -m bench.observing

million: .venv/dev.stamp ## Export a log of a million entries from PostgreSQL and from SQLite, and verify it (about an hour)
	@$(BIN)/python -m bench.exporting

screenshots: .venv/dev.stamp ## Draw docs/images anew from the running demo
	@$(BIN)/python -m tests.screenshots

requirements: .venv/dev.stamp ## Pin the dependencies of pyproject.toml anew (hashes, no addresses)
	@$(PIP) uv
	@for set in "pyproject.toml -o requirements/runtime.txt" \
		"pyproject.toml --group dev -c requirements/runtime.txt -o requirements/dev.txt" \
		"--group pyproject.toml:build -o requirements/build.txt"; do \
		$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --only-binary :all: --generate-hashes \
			--no-emit-index-url --no-header $$set || exit 1; \
	done

clean: ## Remove .venv, caches, and .run with its database
	@rm -rf .venv .run .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/created.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Topogate needs Python 3.11 or newer; choose one: make PYTHON=python3.12 ...")'
	@echo "Making a virtual environment in .venv."
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/runtime.stamp: requirements/build.txt requirements/runtime.txt pyproject.toml | .venv/created.stamp
	@echo "Installing the pinned packages into .venv (once, about a minute)."
	@$(PINNED) -r requirements/build.txt -r requirements/runtime.txt
	@$(PIP) --no-build-isolation --editable .
	@touch $@

.venv/dev.stamp: requirements/dev.txt | .venv/runtime.stamp
	@echo "Installing the pinned packages for development into .venv (once, about a minute)."
	@$(PINNED) -r requirements/dev.txt
	@touch $@
