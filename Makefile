# `make help` lists the targets. Everything runs in .venv, made on first use from the pinned locks.
PYTHON ?= python3
CONFIG ?= configs/quickstart.yaml
VENV := .venv
BIN := $(VENV)/bin
export HF_HUB_DISABLE_TELEMETRY := 1
export ANONYMIZED_TELEMETRY := False

.DEFAULT_GOAL := help
.PHONY: help bench validate show test test-slow test-docs test-all lint format docs site pictures corpus perf soak studies lock clean lint-js

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F '\t' '{printf "  make %-12s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2])' || \
	  { echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Nothing is installed that is not in a lock, with its hash; but for torch, whose build depends on the machine.
# Python compiles a module when it first imports it: most of what these packages hold never is.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
$(VENV)/.runtime: requirements.lock requirements-torch.lock pyproject.toml | $(BIN)/python
	@echo "Installing the pinned versions into $(VENV), once: some minutes, during which pip is silent." >&2
	$(INSTALL) --require-hashes --no-deps -r requirements.lock
	$(INSTALL) -r requirements-torch.lock
	$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	$(INSTALL) --require-hashes --no-deps -r requirements-dev.lock
	@touch $@

bench: $(VENV)/.runtime ## run a benchmark: make bench CONFIG=configs/quickstart.yaml
	@$(BIN)/harness bench $(CONFIG)

validate: $(VENV)/.runtime ## check a config and say what would run: make validate CONFIG=...
	@$(BIN)/harness validate $(CONFIG)

show: $(VENV)/.runtime ## print the summary of finished results: make show RESULTS=results/quickstart
	@$(BIN)/harness show $(or $(RESULTS),results/quickstart)

test: $(VENV)/.dev ## run the fast tests
	@$(BIN)/python -m pytest -n auto --dist loadfile

test-slow: $(VENV)/.dev ## run the tests that take minutes
	@$(BIN)/python -m pytest -m slow -n auto --dist worksteal

test-docs: $(VENV)/.dev ## run the commands of all docs on small inputs
	@$(BIN)/python -m pytest -m docs -n auto --dist worksteal tests/test_docs_commands.py

test-all: $(VENV)/.dev ## run all of these tests in one go, the fast ones first
	@$(BIN)/python -m pytest -m '' -n auto --dist worksteal

lint: $(VENV)/.dev ## check style, format and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

BIOME := 2.6.8
lint-js: $(VENV)/.runtime ## check and test the scripts of the pages; needs node and npm
	@$(BIN)/python tools/page_script.py build/page.js
	@npx --yes @biomejs/biome@$(BIOME) lint --error-on-warnings
	@node --test tests/page_script/*.test.mjs

format: $(VENV)/.dev ## format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(VENV)/.dev ## regenerate what is generated in docs/
	@$(BIN)/python tools/docs.py

# The program that builds the site has an environment of its own.
build/site-env/.done: requirements-docs.lock
	$(PYTHON) -m venv build/site-env
	build/site-env/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r $<
	@touch $@

site: $(VENV)/.runtime build/site-env/.done ## build the docs as a site, and follow its links: build/site/html
	@$(BIN)/python -m tools.docs_site --zensical build/site-env/bin/zensical

pictures: $(VENV)/.dev ## make the pictures of the pages in docs/ again; needs chromium and chromedriver
	@$(BIN)/python tools/screenshots.py

corpus: $(VENV)/.dev ## rebuild the shipped corpus and verify it
	@$(BIN)/python corpora/meridian/build.py --check

perf: $(VENV)/.dev ## measure speed side by side with other tools
	@for script in benchmarks/*_speed.py; do $(BIN)/python $$script || exit 1; done

studies: $(VENV)/.runtime ## compare models from the hub on two collections: results/studies/README.md
	@$(BIN)/python -m benchmarks.studies

soak: $(VENV)/.runtime ## attack the harness with damaged files, kills and bad input: make soak MINUTES=5 SEED=1
	@$(BIN)/python -m tools.soak --minutes $(or $(MINUTES),5) --seed $(or $(SEED),1)

lock: ## resolve the locks of requirements anew
	$(PYTHON) tools/lock.py

clean: ## remove the environment and the cache, keep results
	rm -rf $(VENV) .cache build *.egg-info
