# Two commands do everything on a machine with Python 3.11 or later:
#
#     make demo      build the reference package and verify it
#     make test      every gate, in order, stopping at the first failure
#
# PYTHON names the interpreter for the virtual environment; VENV the folder it lives in.

VENV := .venv
BIN := $(VENV)/bin
JUDGES := .venv-judges
PACKAGE := build/replay-lab-1.0.0.zip
# One process more than there are processors: many tests wait, for limits, disks or a browser. Files go
# out in their order: the longest have few tests, and the short unit tests come last.
SPREAD := -n $(shell expr $$(nproc 2>/dev/null || echo 2) + 1) --dist loadfile --no-loadscope-reorder

PYTHON ?= $(shell for python in python3.14 python3.13 python3.12 python3.11 python3; do \
	if $$python -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' \
	>/dev/null 2>&1; then echo $$python; break; fi; done)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test test-fast coverage judges schemas clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---------------------------------------------------------------- the two commands

demo: $(VENV)/.installed-runtime ## build the replay lab's package and verify it
	@mkdir -p $(dir $(PACKAGE))
	@echo "== build"
	$(BIN)/repropack build --force -o $(PACKAGE)
	@echo "== verify"
	$(BIN)/repropack verify $(PACKAGE)

test: $(VENV)/.installed-dev $(JUDGES)/.installed ## run every gate; stop at the first failure
	@echo "== format"
	$(BIN)/ruff format --check .
	@echo "== lint"
	$(BIN)/ruff check .
	@echo "== types"
	$(BIN)/mypy --explicit-package-bases repropack tests examples tools
	@echo "== import contracts"
	$(BIN)/lint-imports --no-logo
	@echo "== schemas"
	$(BIN)/python tools/generate_schemas.py --check
	@$(BIN)/python -m compileall -q repropack
	@echo "== fast unit tests, with the coverage of the pure rooms"
	@rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest $(SPREAD) -m "not slow" tests/unit
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	@echo "== all other tests, but those of the wheel"
	$(BIN)/python -m pytest $(SPREAD) -m "slow or not unit" \
		$$($(BIN)/python tools/test_wheel.py --print)
	@echo "== tests against the wheel"
	$(BIN)/python tools/test_wheel.py
	@echo "== every gate passed"

# ---------------------------------------------------------------- while working

test-fast: $(VENV)/.installed-dev ## run the tests that take no more than a few seconds each
	$(BIN)/pytest $(SPREAD) -m "not slow"

judges: $(JUDGES)/.installed ## install the public validators that judge our crates, bags and citations

coverage: $(VENV)/.installed-dev ## measure everything with all tests; takes about half an hour
	@rm -f .coverage .coverage.*
	REPROPACK_MEASURE_WORKERS=1 $(BIN)/coverage run --rcfile=tools/coverage_of_all.toml -m pytest $(SPREAD)
	$(BIN)/coverage combine --rcfile=tools/coverage_of_all.toml --quiet
	$(BIN)/coverage report --rcfile=tools/coverage_of_all.toml

schemas: $(VENV)/.installed-dev ## write schemas/ again from the models
	$(BIN)/python tools/generate_schemas.py

clean: ## remove everything that was made here, the virtual environment included
	rm -rf $(VENV) $(JUDGES) build dist .coverage .coverage.* .hypothesis .import_linter_cache \
		.mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---------------------------------------------------------------- the virtual environment

# An installed dev extra holds the runtime too, so it marks both as installed.

$(VENV)/.installed-runtime: pyproject.toml
	$(make-venv)
	@echo "== install"
	@$(BIN)/python -m pip install --quiet --editable '.[notebook]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml
	$(make-venv)
	@echo "== install with the dev extra"
	@$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/.installed-runtime

# The judges live apart: one of them needs an older version of what repropack needs.

$(JUDGES)/.installed: tools/judges.txt | $(VENV)/.installed-dev
	@echo "== the judges' virtual environment"
	@$(BIN)/python -m venv --clear $(JUDGES)
	@$(JUDGES)/bin/python -m pip install --quiet --requirement tools/judges.txt
	@touch $@

# A virtual environment that is missing, moved or too old is made anew; any other is kept.

define make-venv
@$(BIN)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || { \
	test -n "$(PYTHON)" || { \
		echo "no Python 3.11 or later with venv found: install one, or name it with PYTHON=" >&2; \
		exit 1; }; \
	echo "== virtual environment ($(PYTHON))"; \
	"$(PYTHON)" -m venv --clear $(VENV); }
endef
