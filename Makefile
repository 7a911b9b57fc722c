# Two commands to start: `make demo` and `make test`. Both set up everything they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Python itself is built without the checks, so their library has to be there first; it leaks on exit, and may.
SANITIZED = PYTHONPATH=build/sanitized ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)"

.PHONY: help setup demo test retest check coverage bench sanitize lab docs screenshots dist clean

help:            ## This list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing Honeyguide and what it needs into $(VENV) (once) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

setup: $(STAMP)  ## Virtual environment with everything in it

demo: $(STAMP)   ## A real focused crawl end to end, no network needed
	@$(BIN)/honeyguide demo

test: $(STAMP)   ## All tests but the slow ones; real-time ones that fail are tried once more, alone
	@$(BIN)/python -m pytest -n 4 --dist loadscope --no-loadscope-reorder || $(BIN)/python -m pytest --again
	@$(BIN)/honeyguide lab gate --quiet

retest: $(STAMP) ## The real-time tests that failed last time once more, alone; any other failure stands
	@$(BIN)/python -m pytest --again
	@$(BIN)/honeyguide lab gate --quiet

check: $(STAMP)  ## ruff, mypy strict, import order
	@$(BIN)/ruff check src tests studies benchmarks
	@$(BIN)/ruff format --check src tests studies benchmarks
	@$(BIN)/lint-imports --no-cache > /dev/null || $(BIN)/lint-imports
	@$(BIN)/mypy

coverage: $(STAMP) ## The tests with coverage of lines and branches; a page in build/coverage
	@$(BIN)/python -m pytest -n 4 --dist loadscope --no-loadscope-reorder --cov --cov-report=term:skip-covered --cov-report=html || $(BIN)/python -m pytest --again
	@$(BIN)/python -m coverage report --format=total

bench: $(STAMP)  ## All marks of speed in one table, beside Scrapy and Crawlee; as JSON in build/bench.json
	@$(BIN)/python benchmarks/table.py

sanitize: $(STAMP) ## The C under gcc's address and undefined-behaviour checks: its tests, then a minute of broken pages
	@rm -rf build/sanitized && mkdir -p build && cp -r src build/sanitized
	@$(BIN)/python build/sanitized/honeyguide/native/build.py --sanitize
	@$(SANITIZED) $(BIN)/python -m pytest tests/native tests/parse/test_tree_construction.py tests/parse/test_html.py \
	  tests/parse/test_blocks.py tests/text/test_simhash.py tests/frontier tests/ordering/test_scout.py
	@$(SANITIZED) $(BIN)/python tests/native/hostile_pages.py --seconds 60

lab: $(STAMP)    ## The slow tests, and property tests with many more examples
	@HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest -m "slow or hypothesis"

docs: $(STAMP)   ## The documentation as a site in build/site; every example in it is run
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@$(BIN)/python -m pytest tests/docs -q

screenshots: $(STAMP) ## The pictures of the guides, taken from a real crawl
	@$(BIN)/python tests/support/screenshots.py docs/images

dist: $(STAMP)   ## Archive and wheel in dist/, and a try of the wheel in an environment of its own
	@rm -rf dist build/try && $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt build
	@$(BIN)/python -m build --outdir dist . > /dev/null
	@$(BIN)/python -m venv build/try && build/try/bin/pip install --quiet --disable-pip-version-check -c constraints.txt dist/*.whl
	@build/try/bin/honeyguide version && ls -l dist

clean:           ## Remove the environment and outputs
	rm -rf $(VENV) demo-output lab-output build dist
