# Two commands do everything on a fresh machine: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
COMMIT := $(shell git rev-parse --short HEAD 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help setup run test test-long lint bench champions clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## Make .venv and install everything (quick when nothing changed)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed, $$($(PYTHON) --version) found: set PYTHON=..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(READY)

run: setup  ## Train a player of two-player Yatzy from nothing (about six minutes), measure it, write a report
	$(BIN)/aleazero train configs/yatzy_quick.yaml --out runs/yatzy_quick

lint: setup  ## Style, types, and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint  ## Lint, types and all tests but the slow proofs
	$(BIN)/pytest -n 2 -m "not long"

test-long: lint  ## The slow proofs too
	$(BIN)/pytest -n 2

bench: setup  ## Measure speed beside OpenSpiel's and mctx's, chance settings, Yatzy, self-play (half an hour)
	$(BIN)/python -m benchmarks search --json bench.json
	$(BIN)/python -m benchmarks forest --json forest.json
	$(BIN)/python -m benchmarks chance --json chance.json
	$(BIN)/python -m benchmarks yatzy --json yatzy.json
	$(BIN)/python -m benchmarks selfplay --json selfplay.json
	$(BIN)/python -m benchmarks ceiling --json ceiling.json

champions: setup  ## Train the players that ship again (an hour), and put them into the package
	$(BIN)/aleazero train configs/yatzy.yaml --out runs/champions/yatzy-$(COMMIT)  # of another commit it starts anew
	$(BIN)/python docs/champions.py runs/champions/yatzy-$(COMMIT)

clean:  ## Remove what was built
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
