# Every target sets up what it needs: a virtual environment in .venv with the versions of constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= demo
PORT ?= 8000
# Behind a proxy with a certificate of its own uv must use the system's certificates, as pip does.
export UV_SYSTEM_CERTS ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo serve docs test plain test-all check versions dist bench lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

$(BIN)/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "recloak needs Python 3.11 or newer; name one with: make PYTHON=python3.12" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

# uv only makes it quicker; where it cannot install, plain pip does the same with the same versions and says what fails.
install = @$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.$(EXTRAS)' 2>$(VENV)/uv.log || \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.$(EXTRAS)'

$(VENV)/.ready: pyproject.toml constraints.txt | $(BIN)/uv
	$(install)
	@touch $@

$(VENV)/.ready-web: EXTRAS := [web]
$(VENV)/.ready-web: pyproject.toml constraints.txt | $(BIN)/uv
	$(install)
	@touch $@ $(VENV)/.ready

$(VENV)/.ready-dev: EXTRAS := [dev,postgres,web]
$(VENV)/.ready-dev: pyproject.toml constraints.txt | $(BIN)/uv
	$(install)
	@touch $@ $(VENV)/.ready $(VENV)/.ready-web

$(VENV)/.ready-all: EXTRAS := [dev,postgres,web,spark,browser]
$(VENV)/.ready-all: pyproject.toml constraints.txt | $(BIN)/uv
	$(install)
	@touch $@ $(VENV)/.ready-dev $(VENV)/.ready

$(VENV)/.ready-bench: EXTRAS := [dev,postgres,web,bench]
$(VENV)/.ready-bench: pyproject.toml constraints.txt | $(BIN)/uv
	$(install)
	@touch $@ $(VENV)/.ready-dev $(VENV)/.ready

$(VENV)/.ready-docs: EXTRAS := [docs]
$(VENV)/.ready-docs: pyproject.toml constraints.txt | $(BIN)/uv
	$(install)
	@touch $@ $(VENV)/.ready

demo: $(VENV)/.ready ## run the main job on synthetic data and say where its report lies
	$(BIN)/recloak demo -o $(OUT)

serve: $(VENV)/.ready-web ## serve the advisor on synthetic data, at PORT (8000); Ctrl-C ends it
	@test -e $(OUT)-service/ratings.csv || $(BIN)/recloak synth $(OUT)-service --preset tiny --titles --mentions --format csv --seed 1
	@test -e $(OUT)-service/lists.db || $(BIN)/recloak related publish $(OUT)-service/lists.db $(OUT)-service/ratings.csv
	@echo "Open http://127.0.0.1:$(PORT)/ and paste this key of user 87; then write about Saddle, The Inheritance and Invisible Waltz:"
	@$(BIN)/recloak token create --user 87 --expires 1d --store $(OUT)-service/tokens.db
	$(BIN)/recloak serve --port $(PORT) --ratings $(OUT)-service/ratings.csv --titles $(OUT)-service/titles.csv \
		--mentions $(OUT)-service/mentions.csv --history $(OUT)-service/lists.db --tokens $(OUT)-service/tokens.db

docs: $(VENV)/.ready-docs ## build the documentation site into docs/_build; warnings are errors
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

check: $(VENV)/.ready-dev ## linter and type checker only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The type checker uses one core for half a minute, so it runs beside the tests and not before them.
test: $(VENV)/.ready-dev ## linter, type checker and the plain tests, side by side
	@$(MAKE) --no-print-directory -j2 check plain

plain: $(VENV)/.ready-dev
	$(BIN)/pytest -n auto

test-all: $(VENV)/.ready-all check ## the plain tests and those marked slow, data, spark, browser
	$(BIN)/pytest -n auto -m ""

versions: $(BIN)/uv ## the plain tests with every supported Python that this machine has
	@for version in 3.11 3.12 3.13; do \
		command -v python$$version >/dev/null || { echo "python$$version is not here, so it is not tried"; continue; }; \
		$(MAKE) --no-print-directory plain PYTHON=python$$version VENV=.venv-$$version || exit 1; \
	done

dist: $(BIN)/uv ## build the wheel and the source archive into dist/
	$(BIN)/uv build --quiet --python $(BIN)/python --out-dir dist

bench: $(VENV)/.ready-bench ## the benchmarks of docs/benchmarks.md
	$(BIN)/python -m benchmarks

lock: $(BIN)/uv ## resolve constraints.txt anew (it names versions, never a host)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --all-extras pyproject.toml \
		--no-emit-index-url --no-emit-find-links --no-header --no-annotate -o constraints.txt

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .venv-* dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
