# Everything below sets itself up: it needs Python 3.11+ and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Stamps of what is installed: uv and the build backend; what the program needs; what tests and linters need besides.
TOOLS := $(VENV)/.tools
READY := $(VENV)/.ready
DEV := $(VENV)/.dev

# Settings of the checkout: the program itself reads .env only in its data folder, or where it is told to.
ENV_FILE := $(if $(wildcard .env),--env-file .env)
COMPILE = $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes \
  --override locking/overrides.txt --no-emit-index-url --no-emit-find-links --no-header --annotation-style line --quiet

.DEFAULT_GOAL := help
.PHONY: help demo demo-slack demo-discord chat serve test lint format bench bench-cost bench-load bench-crash bench-quality bench-injection bench-install lock clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

# uv installs in seconds. Where only pip is configured to find packages, pip installs the same lock.
define install_lock
$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --require-hashes -r $(1) \
	  || $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $(1)
endef

$(TOOLS): locking/tools.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Threadlore needs Python 3.11 or later: make PYTHON=/path/to/python3.11 …"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

$(READY): $(TOOLS) requirements.lock pyproject.toml
	@echo "Installing the packages of requirements.lock (once; up to a minute) …"
	@$(call install_lock,requirements.lock)
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --offline --no-deps --no-build-isolation -e .
	@touch $@

$(DEV): $(READY) requirements-dev.lock
	@echo "Installing the packages of requirements-dev.lock (once) …"
	@$(call install_lock,requirements-dev.lock)
	@touch $@

demo: $(READY) ## a small town is read in, four questions are answered, then you ask
	@$(BIN)/threadlore $(ENV_FILE) demo

demo-slack: $(READY) ## a day in a Slack workspace, played on this machine: no tokens needed
	@$(BIN)/python -m tests.demos.slack_day

demo-discord: $(READY) ## a day on a Discord server, played on this machine: no tokens needed
	@$(BIN)/python -m tests.demos.discord_day

serve: $(READY) ## serve the platforms whose tokens are set in .env
	@$(BIN)/threadlore $(ENV_FILE) serve

chat: $(READY) ## talk to your own documents in the terminal
	@$(BIN)/threadlore $(ENV_FILE) chat

# Compiled modules are kept: each worker, and each process that a test starts, would compile them again.
test: $(DEV) ## the whole suite, offline
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 4 --dist loadfile

lint: $(DEV) ## ruff and mypy, as strict as they go
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEV) ## let ruff put things straight
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(DEV) ## ingest, recall, memory and disk at several sizes; questions while documents pour in (SIZES="1000 10000")
	$(BIN)/python -m tests.bench.ingest --documents $(or $(SIZES),1000 10000 50000)
	$(BIN)/python -m tests.bench.questions --documents 10000
	$(BIN)/python -m tests.bench.vector_recall --rows 50000

bench-cost: $(DEV) ## what a model is sent for the demo town, and what single steps cost as a folder grows
	@$(BIN)/python -m tests.bench.chat_cost
	@$(BIN)/python -m tests.bench.costs

bench-load: $(DEV) ## fifty questions at once, against a Slack that enforces Slack's limits
	$(BIN)/python -m tests.bench.at_once

bench-crash: $(DEV) ## kill -9 at any moment, 50 times over: is all that was acknowledged there, and the end the same?
	$(BIN)/python -m tests.bench.crash --seeds 50

lock: $(DEV) ## resolve the dependencies again into the three locks
	$(COMPILE) --upgrade pyproject.toml locking/weights.in -o requirements.lock
	$(COMPILE) --upgrade locking/tools.in -c requirements.lock -o locking/tools.lock
	$(COMPILE) --upgrade --all-extras pyproject.toml locking/weights.in -c requirements.lock -c locking/tools.lock \
	  $$(sed -n 's/^\([A-Za-z0-9._-]*\)==.*/--no-emit-package \1/p' requirements.lock locking/tools.lock) \
	  -o requirements-dev.lock

bench-quality: $(DEV) ## how much of what a question needs is recalled, on data that you have (DATA=/path/to/data)
	@$(BIN)/python -m tests.bench.quality --locomo $(if $(DATA),--data "$(DATA)")

bench-injection: $(DEV) ## do strings that give orders do harm, as messages and files, to a bot whose model obeys (DATA=/path/to/data)
	@$(BIN)/python -m tests.bench.injection $(if $(DATA),--data "$(DATA)")

bench-install: $(DEV) ## install the wheel into empty environments without the lock, by pip and by uv, and use it
	@$(BIN)/python -m tests.bench.install

clean: ## remove what the targets above made
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .bench
