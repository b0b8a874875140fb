# Everything runs from a virtual environment in .venv, which `make setup` builds from requirements.lock.
# PYTHON chooses the interpreter it is built with: make setup PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.complete

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format lock clean

help: ## Show the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(STAMP) ## Build .venv (no GPU, no model hub, no cloud account)

$(STAMP): requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "setup needs Python 3.11 or newer; there is no '$(PYTHON)' (try: make setup PYTHON=/path/to/python3)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "setup needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) -V) (try: make setup PYTHON=python3.11)" >&2; exit 1; }
	@rm -f $(STAMP)
	@$(PYTHON) -m venv $(VENV) || { echo "setup could not make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "setup: installing 1.6 GB of packages into $(VENV), which takes minutes and shows nothing" >&2
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@$(BIN)/python -m pip check --disable-pip-version-check
	@touch $(STAMP)

demo: setup ## Backfill the shipped sample and ask it a few questions
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash sample/demo.sh

test: setup ## Run the tests
	$(BIN)/python -m pytest

lint: setup ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup ## Put the code in its format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: ## Pin every dependency anew, for all platforms and Python >= 3.11
	$(PYTHON) -m venv --clear build/lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	{ echo "# Pins of the default and development environment. Written by: make lock"; \
	  build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --extra dev --no-header --no-annotate \
	    --no-emit-package mnemosaic pyproject.toml; } > build/requirements.lock
	mv build/requirements.lock requirements.lock

clean: ## Remove what make built
	rm -rf $(VENV) build .demo
