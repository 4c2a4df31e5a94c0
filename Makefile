# Two commands do everything on a fresh machine: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LIGHT := $(VENV)/.light
WEB := $(VENV)/.web
READY := $(VENV)/.ready
COMMIT := $(shell git rev-parse --short HEAD 2>/dev/null)
# Python compiles a module at its first import. Compiling all that are installed would take a minute.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
unexport PYTHONDONTWRITEBYTECODE
# Each worker begins with its half of the tests, so that they rarely compile the same game at the same time.
PYTEST := $(BIN)/pytest -n 2 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help setup run play browser test test-long lint docs bench champions clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## Create .venv with all development tools

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed, $$($(PYTHON) --version) found: set PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# What `make run` needs: no torch.
$(LIGHT): pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[report]'
	touch $(LIGHT)

# What `make play` needs: no torch.
$(WEB): pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[web,net,report]'
	touch $(WEB)

# This includes what `make run` and `make play` need.
$(READY): pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[dev]'
	touch $(LIGHT) $(WEB) $(READY)

run: $(LIGHT)  ## Train a two-player Yatzy player from scratch, evaluate it and write a report (about 6 minutes on 2 cores)
	$(BIN)/aleazero train configs/yatzy_quick.yaml --out runs/yatzy_quick

play: $(WEB)  ## Open the playground in the browser
	$(BIN)/aleazero web

browser:  # Chromium for the tests of the playground, from the distribution
	@tests/web/install_browser.sh

lint: setup  ## Check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint browser  ## Lint, then run all tests except the long ones
	$(PYTEST) -m "not long"

test-long: lint browser  ## Lint, then run all tests
	$(PYTEST)

docs: setup  ## Build the documentation site into site/
	$(BIN)/python docs/scripts/site.py

bench: setup  ## Measure speed, also compared with OpenSpiel and mctx, and chance modes (about half an hour)
	$(BIN)/python -m benchmarks search --json bench.json
	$(BIN)/python -m benchmarks forest --json forest.json
	$(BIN)/python -m benchmarks chance --json chance.json
	$(BIN)/python -m benchmarks yatzy --json yatzy.json
	$(BIN)/python -m benchmarks selfplay --json selfplay.json
	$(BIN)/python -m benchmarks engine --json engine.json
	$(BIN)/python -m benchmarks ceiling --json ceiling.json

champions: setup  ## Train the bundled networks again (about three hours) and copy them into the package
	$(BIN)/aleazero train configs/yatzy.yaml --out runs/champions/yatzy-$(COMMIT)
	$(BIN)/aleazero train configs/backgammon.yaml --out runs/champions/backgammon-$(COMMIT)
	$(BIN)/aleazero train configs/azul.yaml --out runs/champions/azul-$(COMMIT)
	$(BIN)/python docs/scripts/champions.py runs/champions/yatzy-$(COMMIT) \
		runs/champions/backgammon-$(COMMIT):plan:plies=2,keep=8,margin=0.16 \
		runs/champions/azul-$(COMMIT):search:sims=200

clean:  ## Remove build results and caches
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
