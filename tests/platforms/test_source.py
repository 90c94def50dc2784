from __future__ import annotations

import ast
import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import orchestrator
from orchestrator.db.engine import engine
from orchestrator.db.migrate import upgrade
from orchestrator.errors import SpecError
from orchestrator.localcloud.home import Home as LocalCloudHome
from orchestrator.platforms import source
from orchestrator.platforms.source import Package, pack
from tests.test_secrecy import KEYS


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    write(folder / "train.py", "print('hello')")
    write(folder / "models" / "net.py", "")
    return folder


def write(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def contents(package: Package) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(package.body)) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive if entry.isfile()}  # type: ignore[union-attr]


def test_every_file_is_packed_under_its_own_name(code: Path) -> None:
    package = pack(code)
    assert package.files == ("models/net.py", "train.py")
    assert contents(package) == {"models/net.py": b"", "train.py": b"print('hello')"}


def test_dependencies_lie_beside_the_code(code: Path, tmp_path: Path) -> None:
    write(tmp_path / "shared" / "common" / "net.py", "NET = 1")
    write(tmp_path / "shared" / "common" / "notes.ckpt")
    write(tmp_path / "shared" / "common" / ".sweepignore", "*.ckpt")
    write(tmp_path / "shared" / "helpers.py", "HELP = 1")
    beside = [tmp_path / "shared" / "common", tmp_path / "shared" / "helpers.py"]
    package = pack(code, "train.py", dependencies=beside)
    assert package.files == ("models/net.py", "train.py", "common/net.py", "helpers.py")
    assert contents(package)["common/net.py"] == b"NET = 1"
    assert package.digest != pack(code).digest


@pytest.mark.parametrize(
    ("name", "said"),
    [("models", "models would be there twice"), ("nowhere", "there is no such file"), (".env", "looks like a secret")],
)
def test_a_dependency_that_cannot_be_packed_is_refused(code: Path, tmp_path: Path, name: str, said: str) -> None:
    write(tmp_path / "shared" / "models" / "x.py")
    write(tmp_path / "shared" / ".env")
    with pytest.raises(SpecError, match=said):
        pack(code, dependencies=[tmp_path / "shared" / name])


names = st.text(st.characters(categories=["Ll", "Lu", "Nd"]), min_size=1, max_size=8)


@given(st.dictionaries(names, st.binary(max_size=200), min_size=1, max_size=8))
def test_same_content_makes_same_bytes_whenever_and_in_whatever_order_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    packages = []
    for order in (list(files), list(reversed(files))):
        folder = tmp_path_factory.mktemp("code")
        for n, name in enumerate(order):
            (folder / f"{name}.py").write_bytes(files[name])
            os.utime(folder / f"{name}.py", (n, n))
            (folder / f"{name}.py").chmod(0o600 if n % 2 else 0o664)
        packages.append(pack(folder))
    assert packages[0] == packages[1]


def test_other_content_another_name_or_the_right_to_run_make_another_digest(code: Path) -> None:
    digests = {pack(code).digest}
    (code / "train.py").chmod(0o755)
    digests.add(pack(code).digest)
    write(code / "train.py", "print('bye')")
    digests.add(pack(code).digest)
    (code / "models" / "net.py").rename(code / "models" / "web.py")
    digests.add(pack(code).digest)
    assert len(digests) == 4


def test_the_archive_tells_nothing_of_the_machine_it_was_made_on(code: Path) -> None:
    package = pack(code)
    assert package.body[4:8] == b"\0\0\0\0"
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(package.body))) as archive:
        assert {(e.mtime, e.uid, e.gid, e.uname, e.gname) for e in archive} == {(0, 0, 0, "", "")}


def test_what_is_no_code_is_left_out(code: Path) -> None:
    for path in (".git/config", "__pycache__/x.pyc", "models/__pycache__/y.pyc", ".venv/bin/python", "a.egg-info/top"):
        write(code / path)
    assert pack(code).files == ("models/net.py", "train.py")


def test_the_ignore_file_keeps_files_out(code: Path) -> None:
    write(code / ".sweepignore", "# notes\n\n*.ckpt\ndata/\nnotes/*.md\n/top.txt\n")
    for path in ("a.ckpt", "models/b.ckpt", "data/x", "models/data/x", "notes/a.md", "top.txt", "notes/keep.txt"):
        write(code / path)
    write(code / "models" / "top.txt")
    write(code / "deep" / "data")
    assert pack(code).files == ("deep/data", "models/net.py", "models/top.txt", "notes/keep.txt", "train.py")


@pytest.mark.parametrize(
    "secret",
    [
        *(".env", "models/.env.production", "prod.env", "aws.pem", ".aws/config", ".docker/config.json", "id_rsa"),
        *("credentials.json", "Secrets.yaml", "jane_accessKeys.csv", "rootkey.csv", "my_secret_key.txt", "kaggle.json"),
        *("client_secret_42.json", "service-account-prod.json", "wandb_api_key.txt", "main.tfvars", "token"),
    ],
)
def test_a_file_that_looks_like_a_secret_is_refused_by_name(code: Path, secret: str) -> None:
    write(code / secret)
    with pytest.raises(SpecError, match=r"looks like a secret .*\.sweepignore"):
        pack(code)
    write(code / ".sweepignore", secret.split("/")[0])
    pack(code)


def test_code_about_secrets_is_no_secret(code: Path) -> None:
    write(code / "secrets.py")
    write(code / "tokenizer.json")
    write(code / "token_counts.csv")
    write(code / "credentials" / "vault.py")
    with pytest.raises(SpecError, match="credentials looks like a secret"):
        pack(code)
    (code / "credentials" / "vault.py").rename(code / "vault.py")
    (code / "credentials").rmdir()
    assert {"secrets.py", "tokenizer.json", "token_counts.csv"} < set(pack(code).files)


def test_a_link_within_the_folder_stays_a_link(code: Path) -> None:
    (code / "models" / "main.py").symlink_to(code / "train.py")
    (code / "nets").symlink_to("models")
    with tarfile.open(fileobj=io.BytesIO(pack(code).body)) as archive:
        links = {entry.name: entry.linkname for entry in archive if entry.issym()}
    assert links == {"models/main.py": "../train.py", "nets": "models"}


@pytest.mark.parametrize(
    ("target", "fault"), [("/etc/hostname", "leads out of the source folder"), ("nowhere.py", "leads nowhere")]
)
def test_a_link_that_leads_astray_is_refused(code: Path, target: str, fault: str) -> None:
    Path("/etc/hostname").exists() or pytest.skip("no file to point at")
    (code / "link.py").symlink_to(target)
    with pytest.raises(SpecError, match=f"the link link.py {fault}"):
        pack(code)


def test_a_missing_folder_or_entry_point_is_one_clear_line(code: Path) -> None:
    with pytest.raises(SpecError, match=r"nowhere: there is no such source folder"):
        pack(code / "nowhere")
    with pytest.raises(SpecError, match=r"entry point trian.py is not in the source folder \(did you mean 'train.py'"):
        pack(code, "trian.py")


def test_what_cannot_be_packed_is_one_clear_line(code: Path) -> None:
    os.mkfifo(code / "pipe")
    with pytest.raises(SpecError, match="pipe: neither a file nor a folder"):
        pack(code)


def test_a_file_that_cannot_be_read_is_one_clear_line(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(SpecError, match=r"net\.py: cannot be read: Permission denied \(check its permissions\)"):
        pack(code)


def test_a_pattern_that_would_take_one_back_is_refused(code: Path) -> None:
    write(code / ".sweepignore", "*.ckpt\n!best.ckpt\n")
    with pytest.raises(SpecError, match=r"\.sweepignore:2: patterns cannot be taken back"):
        pack(code)


# What travels along

HELPERS = (
    "orchestrator/__init__.py",
    *(
        f"orchestrator/training/{name}.py"
        for name in ("__init__", "checkpoint", "metadata", "notice", "process", "report")
    ),
)


@pytest.mark.parametrize(
    "line",
    [
        "from orchestrator import Checkpoints, report",
        "from orchestrator.training.checkpoint import Checkpoints",
        "import orchestrator",
        "import os, orchestrator.training.report as m",
        "def main():\n    from orchestrator import report",
        "try:\n\timport orchestrator\nexcept ImportError:\n\traise",
    ],
)
def test_code_that_imports_us_takes_along_what_it_needs(code: Path, line: str) -> None:
    write(code / "models" / "net.py", f"import math\n{line}\n")
    package = pack(code)
    assert package.files == ("models/net.py", "train.py", *HELPERS)
    assert set(contents(package)) == set(package.files)
    assert pack(code) == package


@pytest.mark.parametrize(
    "line",
    [
        "# from orchestrator import report",
        "text = 'import orchestrator'",
        "import orchestrators",
        "from my import orchestrator_",
    ],
)
def test_code_that_does_not_import_us_travels_alone(code: Path, line: str) -> None:
    write(code / "models" / "net.py", f"{line}\n")
    assert pack(code).files == ("models/net.py", "train.py")


@pytest.mark.parametrize("own", ["orchestrator.py", "orchestrator/__init__.py"])
def test_an_orchestrator_of_the_codes_own_is_never_shadowed(code: Path, own: str) -> None:
    write(code / "models" / "net.py", "from orchestrator import conduct\n")
    write(code / own, "def conduct(): ...\n")
    assert pack(code).files == tuple(sorted(("models/net.py", "train.py", own)))


def test_what_travels_along_works_where_nothing_else_of_ours_is(code: Path, tmp_path: Path) -> None:
    """The image has never heard of sweep: there is nothing of ours but what was packed."""
    script = """
        from orchestrator import Checkpoints, report
        from pathlib import Path
        total = [0]
        checkpoints = Checkpoints(lambda path: path.write_text(str(total[0])), lambda path: None, folder="saved")
        for step in checkpoints.steps(3):
            report(step=step, loss=3 - step)
        print(sorted(Path("saved").iterdir()) != [])
    """
    write(code / "train.py", textwrap.dedent(script))
    image = tmp_path / "image"
    for name, content in contents(pack(code)).items():
        write(image / name, content.decode())
    command = [sys.executable, "-S", "train.py"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(image)}
    done = subprocess.run(command, cwd=image, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [*(f"[sweep] step={step} loss={3 - step}" for step in range(3)), "True"]


def test_the_rest_of_sweep_is_not_there_and_says_so(code: Path, tmp_path: Path) -> None:
    write(code / "train.py", "from orchestrator import Orchestrator\n")
    for name, content in contents(pack(code)).items():
        write(tmp_path / "image" / name, content.decode())
    command = [sys.executable, "-S", "train.py"]
    done = subprocess.run(command, cwd=tmp_path / "image", env={}, capture_output=True, text=True, check=False)
    assert "No module named 'orchestrator.api'" in done.stderr


# What we write ourselves, and what nobody should upload


def test_what_we_write_ourselves_is_never_packed(code: Path) -> None:
    before = pack(code)
    database = engine(f"sqlite:///{code / 'team.db'}")
    upgrade(database)
    write(code / "plan.json", json.dumps({"id": "0123456789ab", "folder": ".", "version": 1}, indent=1))
    write(code / "sweep.toml", 'database = "sqlite:///team.db"')
    assert pack(code) == before
    write(code / "plan.txt", "a plan of mine")
    assert "plan.txt" in pack(code).files


@pytest.mark.parametrize("kind", [kind for kind in KEYS if kind != "a URL with a password"])
def test_a_file_with_a_key_in_it_is_refused_whatever_its_name(code: Path, kind: str) -> None:
    key = KEYS[kind]()
    write(code / "models" / "net.py", f"# a model\n\nKEY = '{key}'\n")
    with pytest.raises(SpecError) as caught:
        pack(code)
    assert caught.value.message == f"models/net.py:3 has what looks like {kind}, and would be uploaded"
    assert key not in str(caught.value)
    write(code / ".sweepignore", "net.py")
    assert pack(code).files == ("train.py",)


def test_what_only_looks_like_a_key_is_packed_if_its_line_says_so(code: Path) -> None:
    key = KEYS["a GitHub token"]()
    write(code / "train.py", f"GOOD = '{key}'  # sweep: plain\n")
    assert "train.py" in pack(code).files
    write(code / "train.py", f"GOOD = '{key}'  # sweep: plain\nBAD = '{key}'\n")
    with pytest.raises(SpecError, match=r"train\.py:2 has what looks like a GitHub token"):
        pack(code)
    write(code / "train.py", "KEY = 'AKIAIOSFODNN7EXAMPLE'\n")  # AWS's documentation is full of it
    assert "train.py" in pack(code).files


def test_data_that_is_no_text_is_not_judged(code: Path) -> None:
    (code / "weights.bin").write_bytes(b"\0" * 100 + KEYS["an AWS access key"]().encode())
    assert "weights.bin" in pack(code).files


def test_the_folder_of_a_local_cloud_is_never_packed(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("")
    home = tmp_path / "cloud"
    home.mkdir()
    with LocalCloudHome(home).hold():
        (home / "work").mkdir(exist_ok=True)
        (home / "work" / "model.bin").write_text("large")
        (home / "server.json").write_text("{}")
        assert pack(tmp_path).files == ("train.py",)
    (home / "mine.py").write_text("")
    assert "cloud/mine.py" in pack(tmp_path).files


@pytest.mark.parametrize("packed", [source.HELPERS, source.STARTER, source.BARE], ids=["helpers", "starter", "bare"])
def test_whatever_our_packed_files_import_of_ours_is_packed_with_them(packed: tuple[Path, ...]) -> None:
    """One that is left out is missed on a machine only, where nobody looks on."""
    here = Path(orchestrator.__file__).parents[1]
    for file in packed[1:]:  # the first is the package, whose names for users are imported on their first use
        for node in ast.walk(ast.parse((here / file).read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("orchestrator."):
                module = Path(*str(node.module).split("."))
                named = {module.with_suffix(".py"), *(module / f"{one.name}.py" for one in node.names)}
                assert named & set(packed), f"{file} imports {node.module}"
