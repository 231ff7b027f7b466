# config/bootstrap.py needs a Python 3.11 and nothing else.
PYTHON ?= python3
ARGS ?=

.PHONY: help serve test test-all check lint client docs messages install lock

help:
	@echo "make serve      set up and run the product with the demo project"
	@echo "make test       set up, then all checks, and the tests on SQLite and on PostgreSQL"
	@echo "                (make test ARGS=\"-k name\": only those tests, on both)"
	@echo "make test-all   the same with the slow tests: long crash and load tests"
	@echo "make lint       only the checks: format, lint, imports, types, scripts, migrations"
	@echo "make docs       write the help of the commands and the notebook's output into the documents"
	@echo "make messages   collect the texts of the product, write and compile locale/"
	@echo "make install    only set up"
	@echo "make lock       choose the newest versions that fit and write the two locks"

serve:
	@$(PYTHON) config/bootstrap.py serve

test:
	@$(PYTHON) config/bootstrap.py test $(ARGS)

test-all:
	@$(PYTHON) config/bootstrap.py test-all

check: test

lint:
	@$(PYTHON) config/bootstrap.py lint

client: install
	@ASSAY_REFRESH_DOCS=1 .venv/bin/python -m pytest -q tests/clients/test_complete.py -k types

docs: install
	@ASSAY_REFRESH_DOCS=1 .venv/bin/python -m pytest -q tests/clients/test_notebook.py -k notebook_runs

messages: install
	@.venv/bin/python -m config.messages

install:
	@$(PYTHON) config/bootstrap.py install

lock:
	@$(PYTHON) config/bootstrap.py lock
