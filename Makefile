# The two commands of the README. Each makes .venv by itself, from the pinned versions.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

OLDEST := .venv-minimum
READY_OLDEST := $(OLDEST)/.ready

.PHONY: bench test test-minimum lint types docs clean

bench: $(READY)
	$(BIN)/arithmix run dmu
	$(BIN)/arithmix table dmu

test: $(READY) lint types
	$(BIN)/python -m pytest
	# Once more with every shape that the units declare checked as it runs.
	$(BIN)/python -m pytest tests/units/test_contract.py -k keeps_the_contract \
		--jaxtyping-packages=arithmix.units,beartype.beartype

# The same tests with the oldest versions that pyproject.toml allows, in an environment of their own.
test-minimum: $(READY_OLDEST)
	$(OLDEST)/bin/python -m pytest
	$(OLDEST)/bin/python -m pytest tests/units/test_contract.py -k keeps_the_contract \
		--jaxtyping-packages=arithmix.units,beartype.beartype

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/codespell src tests benchmarks docs README.md CHANGELOG.md LOG.md

types: $(READY)
	$(BIN)/pyrefly check

# The site, into site/, to open from disk.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[dev]'
	$(BIN)/arithmix lm fetch
	touch $@

$(READY_OLDEST): pyproject.toml constraints-minimum.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints-minimum.txt --editable '.[dev]'
	$(OLDEST)/bin/arithmix lm fetch
	touch $@

clean:
	rm -rf $(VENV) $(OLDEST) site .pytest_cache .ruff_cache .hypothesis
