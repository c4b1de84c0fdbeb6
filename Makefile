# Everything runs in .venv, which scripts/install.py makes, brings up to date and repairs; nothing outside it is touched,
# except that `make test` installs a Chromium where there is none.

PYTHON ?= python3
ARGS ?=
# `make test TESTS=tests/machines` runs a part.
TESTS ?=

VENV_PYTHON = .venv/bin/python
RECORDING = build/docs/recording.webm
RUN_TESTS = WORKBENCH_CHROMIUM="$$($(VENV_PYTHON) scripts/chromium.py)" && export WORKBENCH_CHROMIUM && \
	$(VENV_PYTHON) scripts/run_tests.py

# Jupyter, pip and Matplotlib keep files in the home folder; where there is none to write to, they get one.
ifneq ($(shell test -d "$$HOME" && test -w "$$HOME" && echo writable),writable)
export HOME := $(CURDIR)/.venv/home
endif

.DEFAULT_GOAL := help
.PHONY: help lab app test test-all test-oldest check docs docs-recording bench mpi petsc constraints clean develop python

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-18s %s\n", $$1, $$2}'

lab: python ## start JupyterLab on the tour; ARGS are passed on: make lab ARGS="--no-browser --port 8899"
	@$(PYTHON) scripts/install.py lab opencl
	@exec $(VENV_PYTHON) -m workbench.cli lab $(ARGS)

app: python ## serve the workbench and the lessons as pages without code cells; ARGS are passed on: make app ARGS="--no-browser --port 8866"
	@$(PYTHON) scripts/install.py lab app opencl
	@exec $(VENV_PYTHON) -m workbench.cli app $(ARGS)

test: develop ## run the tests, in the browser those of the whole page only (TESTS=tests/browser: all); ARGS go to pytest: make test ARGS="-k stencil -x"
	@$(RUN_TESTS) $(TESTS) -- $(ARGS)

test-all: develop ## run all tests, also all in the browser and those marked as slow, which rarely fail
	@$(RUN_TESTS) --all $(TESTS) -- $(ARGS)

test-oldest: python ## solve, race and open pages with the lower bound of each dependency, in .venv-oldest
	@$(PYTHON) scripts/oldest.py $(ARGS)

check: develop ## check style, types, the layers of imports, and measures of the structure
	$(VENV_PYTHON) -m ruff check .
	$(VENV_PYTHON) -m ruff format --check .
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(VENV_PYTHON) -m pyright
	.venv/bin/lint-imports
	$(VENV_PYTHON) -m scripts.measures

docs: develop ## make the site in build/docs/site: documents, blocks, reference, executed notebooks; it needs no network
	@WORKBENCH_CHROMIUM="$$($(VENV_PYTHON) scripts/chromium.py)" && export WORKBENCH_CHROMIUM && $(VENV_PYTHON) -m scripts.site

docs-recording: develop ## record the page as it is used: draw a bubble, solve, race, look inside; build/docs/recording.webm
	@WORKBENCH_CHROMIUM="$$($(VENV_PYTHON) scripts/chromium.py)" && export WORKBENCH_CHROMIUM && \
		$(VENV_PYTHON) scripts/recording.py $(or $(ARGS),$(RECORDING))

bench: develop ## run the side-by-side comparisons; ARGS are passed on
	@$(VENV_PYTHON) -m benchmarks $(ARGS)

mpi: python ## install MPI for runs on ranks (--ranks): two wheels, 15 MB, no compiler
	@$(PYTHON) scripts/install.py lab app opencl mpi

petsc: mpi ## build PETSc for --engine petsc; about ten minutes of CPU once, and a C compiler
	@$(VENV_PYTHON) scripts/petsc.py

constraints: python ## choose new versions for constraints.txt from a fresh environment
	@$(PYTHON) scripts/make_constraints.py

clean: ## remove .venv and everything else that these targets made
	rm -rf .venv .venv-oldest build dist .cache .hypothesis .import_linter_cache .pytest_cache .ruff_cache test-results
	find . -name __pycache__ -prune -exec rm -rf {} +

develop: python
	@$(PYTHON) scripts/install.py lab app opencl cluster mpi docs dev

python:
	@command -v $(PYTHON) >/dev/null || { echo "the workbench needs Python 3.11 or newer, but there is no $(PYTHON) on the PATH" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "the workbench needs Python 3.11 or newer, but $(PYTHON) is $$($(PYTHON) --version 2>&1); name another one, as in: make lab PYTHON=python3.12" >&2; exit 1; }
