# Two commands on a fresh machine: `make demo` and `make test`. Python >= 3.10, git and make are all they need.
PYTHON ?= python3
BIN    := .venv/bin
UV     := $(BIN)/uv pip install --quiet --python $(BIN)/python
# Where a machine keeps wheels of its own (a CPU build of PyTorch, say), uv must be told so; pip would know.
LINKS  := $(PIP_FIND_LINKS:%=--find-links %)
INDEX  := $(PIP_INDEX_URL:%=--default-index %)
EXTRAS := local,parquet,png,postgres
# Four on two cores: half of the time, a test waits for processes of its own.
PYTEST := $(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder
# An activated environment elsewhere must not leak into ours.
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME CONDA_PREFIX
# Without compiled files each of the many processes of a test or a demo would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE
# Half of all files are libraries' own tests, and what no `sweep` loads. Some hold no Python that can be compiled.
COMPILE := $(BIN)/python -m compileall -qq -j 0 -x '/(tests|sympy|networkx|mpmath|mypy|mypyc|pip|setuptools|pygments)/' .venv/lib || true

.PHONY: demo test test-long month lint style torch browser toolkit horovod trackers scripts bench chaos parity clients fuzz images cloud-init clean

demo: .venv/.installed
	@$(BIN)/sweep demo

# Types are checked beside the tests, and what is wrong with them is told at the end: on two cores, neither needs both.
test: style
	@$(BIN)/python -c 'import importlib.util as u; raise SystemExit(u.find_spec("torch") is None)' || echo "PyTorch is not installed: tests of PyTorch DDP are skipped ('make torch' installs it)."
	@told=$$(mktemp); { $(TYPES); } > $$told 2>&1 & types=$$!; \
	$(PYTEST); tests=$$?; \
	wait $$types; wrong=$$?; cat $$told; rm $$told; \
	test $$tests -eq 0 || exit $$tests; exit $$wrong

# What repeats a behaviour that a shorter test of `make test` shows: in another database, at another moment.
test-long: .venv/.installed
	$(PYTEST) -m long

# Months of nights, in which clocks change, data arrives, a Region is down and every conductor is killed: docs/nightly.md.
month: .venv/.installed
	$(BIN)/python -m pytest -m 'long or not long' tests/nightly/test_month.py tests/nightly/on_the_cloud

TYPES := $(BIN)/mypy && $(BIN)/lint-imports --no-logo
lint: style
	$(TYPES)
style: .venv/.installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check

bench: .venv/.installed
	@$(BIN)/python -m benchmarks $(ONLY) $(PRICES:%=--prices %) $(TRACES:%=--traces %)

# Needs docker. `sweep images push` then brings each to every Region.
IMAGES := launcher conductor pytorch lightning horovod
images:
	@for name in $(IMAGES); do docker build --file containers/$$name/Dockerfile --tag sweep-$$name:1 . || exit 1; done

# Inputs that nobody meant, for every reader: files, stored objects, settings, options. The same seed gives the same inputs.
SEED  := 1
COUNT := 100000
fuzz: .venv/.installed
	@$(BIN)/python -m tests.fuzz $(SEED) $(COUNT)

# Runs that are killed, doubled and cut off anywhere, then counted by what is really there: docs/reliability.md.
MINUTES := 5
chaos: .venv/.installed
	@$(BIN)/python -m tests.chaos --seed $(SEED) --minutes $(MINUTES)

# What we send beside what the SageMaker SDK sends, field by field; the SDK gets an environment of its own, once.
parity: .venv/.installed
	@$(BIN)/python -m tests.parity

# Other people's clients on the local cloud: the AWS CLI, the SageMaker SDK v2 and v3, Metaflow, Kubernetes' own for Python. 1.2 GB, below .bench.
clients: .venv/.installed
	@$(BIN)/python -m tests.clients
	$(PYTEST) -m 'long or not long' tests/clients tests/localcloud/test_aws_cli.py

# User data under the real cloud-init, at the real 169.254.169.254. Debian's packages are unpacked beside, not installed.
CLOUD_INIT := cloud-init python3-attr python3-blinker python3-certifi python3-chardet python3-charset-normalizer python3-configobj python3-idna \
	python3-jinja2 python3-json-pointer python3-jsonpatch python3-jsonschema python3-jwt python3-markupsafe python3-netifaces python3-oauthlib \
	python3-pkg-resources python3-pyrsistent python3-requests python3-serial python3-six python3-urllib3 python3-yaml
cloud-init: .venv/.installed
	@$(MAKE) --no-print-directory .cloud-init/.unpacked || echo "Debian's cloud-init cannot be had here: apt-get and dpkg-deb are needed."
	$(BIN)/python -m pytest -m 'long or not long' -rs tests/cloud_init
.cloud-init/.unpacked:
	@rm -rf .cloud-init && mkdir -p .cloud-init/root .cloud-init/packages
	cd .cloud-init/packages && apt-get download -qq $(CLOUD_INIT)
	for package in .cloud-init/packages/*.deb; do dpkg-deb -x $$package .cloud-init/root || exit 1; done
	@touch $@

clean:
	rm -rf .venv .trackers .scripts .cloud-init .toolkit .horovod .bench build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# An installation that was interrupted leaves `.unfinished` behind, and is made anew.
.venv/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "sweep needs Python 3.10 or newer: make $(MAKECMDGOALS) PYTHON=python3.x" >&2; exit 1; }
	@test ! -e .venv/.unfinished || rm -rf .venv
	@mkdir -p .venv && touch .venv/.unfinished
	@test -x $(BIN)/uv || echo "Installing into .venv, once ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(UV) $(LINKS) $(INDEX) --group dev --editable '.[$(EXTRAS)]'
	@$(COMPILE)
	@mv .venv/.unfinished $@ && touch $@

# PyTorch's CPU build, pinned in pyproject.toml only: the machine's own wheel where there is one, else PyTorch's.
torch: .venv/.torch
.venv/.torch: .venv/.installed
	$(UV) $(or $(LINKS),--torch-backend cpu) $(INDEX) --editable '.[$(EXTRAS),torch]'
	@$(COMPILE)
	@touch $@

# What drives a browser, for the test in which a stranger's page attacks the local cloud. The browser is the machine's own.
browser: .venv/.browser
.venv/.browser: .venv/.installed
	@command -v chromium > /dev/null || command -v google-chrome > /dev/null || echo "There is no chromium: install it (Debian: apt-get install chromium)."
	$(UV) $(INDEX) --group browser
	@touch $@

# AWS's training toolkit, as our images have it, in an environment of its own: for `sweep local up --toolkit`.
TOOLKIT := $(BIN)/uv pip install --quiet --compile-bytecode --python .toolkit/bin/python
PINNED  := $(wildcard containers/*/requirements.txt)
toolkit: .toolkit/.installed
.toolkit/.installed: .venv/.installed $(PINNED)
	@SSHD="$(SSHD)" containers/machine.sh $(BIN)/python
	$(BIN)/uv venv --quiet --clear --seed --python $(BIN)/python .toolkit
	$(BIN)/python containers/pinned.py torch > .toolkit/torch.txt
	$(TOOLKIT) $(or $(LINKS),--torch-backend cpu) $(INDEX) $(PINNED:%=--requirement %) --requirement .toolkit/torch.txt scikit-learn
	@touch $@

# Horovod for it, built once for each PyTorch and kept beside: four minutes.
horovod: .toolkit/.horovod
HOROVOD := .horovod/$(shell sed -n 's/^torch = \["torch==\(.*\)"\]$$/\1/p' pyproject.toml)
.toolkit/.horovod: .toolkit/.installed $(HOROVOD)/.built
	$(TOOLKIT) $(INDEX) --no-deps $(HOROVOD)/*.whl
	@touch $@
$(HOROVOD)/.built: $(wildcard containers/horovod/*) | .toolkit/.installed
	@rm -rf $(HOROVOD)
	PATH="$(CURDIR)/.toolkit/bin:$$PATH" containers/horovod/build.sh $(HOROVOD)
	@touch $@

# MLflow and Weights & Biases, beside: a training's reports are tested with the real ones where they are.
trackers: .trackers/.installed
.trackers/.installed: .venv/.installed
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .trackers
	$(BIN)/uv pip install --quiet $(INDEX) --python .trackers/bin/python --group trackers
	@touch $@

# Packages whose own scripts are trained with, as they are (tests/scripts): 1.4 GB.
scripts: .scripts/.installed
.scripts/.installed: .venv/.installed pyproject.toml
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .scripts
	$(BIN)/python containers/pinned.py torch > .scripts/torch.txt
	$(BIN)/uv pip install --quiet --compile-bytecode --python .scripts/bin/python \
	    $(or $(LINKS),--torch-backend cpu) $(INDEX) --requirement .scripts/torch.txt --group scripts
	@touch $@
