# The two commands of the README. Each makes .venv by itself, from the pinned versions.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: bench test lint types clean

bench: $(READY)
	$(BIN)/arithmix run dmu
	$(BIN)/arithmix table dmu

test: $(READY) lint types
	$(BIN)/python -m pytest
	# Once more with every shape that the units declare checked as it runs.
	$(BIN)/python -m pytest tests/units/test_contract.py -k keeps_the_contract \
		--jaxtyping-packages=arithmix.units,beartype.beartype

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/codespell src tests benchmarks README.md CHANGELOG.md LOG.md

types: $(READY)
	$(BIN)/pyrefly check

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis
