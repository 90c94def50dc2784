# Two commands on a fresh machine: `make demo` and `make test`. Python >= 3.10, git and make are all they need.
PYTHON ?= python3
BIN    := .venv/bin
UV     := $(BIN)/uv pip install --quiet --python $(BIN)/python
STAMP  := .venv/.installed
# Where a machine keeps wheels of its own (a CPU build of PyTorch, say), uv is told so; pip would know.
LINKS  := $(PIP_FIND_LINKS:%=--find-links %)

.PHONY: demo test lint torch bench clean
demo: $(STAMP)
	$(BIN)/sweep demo

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(UV) $(LINKS) --group dev --editable '.[local,parquet,postgres]'
	touch $@
