"""A folder whose files the server has: what a process sees there, and what is read for it.

The oracle is the kernel: every test looks by its own system calls, in a mount namespace of its own.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.localcloud.machines import own_mounts
from orchestrator.localcloud.machines.fuse.tree import ROOT, File, Folder, Tree
from orchestrator.localcloud.machines.own_mounts import OwnMounts

if TYPE_CHECKING:
    from collections.abc import Callable

LARGE = bytes(range(256)) * 12_000


class Store:
    """Files in memory, and a list of what has been read of them."""

    def __init__(self) -> None:
        self.read: list[tuple[str, int, int]] = []
        self.bodies: dict[str, bytes] = {}

    def tree(self, bodies: dict[str, bytes]) -> Tree:
        self.bodies.update(bodies)
        return Tree(File(name, len(body), 1_600_000_000.5, self.reader(name)) for name, body in bodies.items())

    def reader(self, name: str) -> Callable[[int, int], bytes]:
        def read(offset: int, size: int) -> bytes:
            self.read.append((name, offset, size))
            return self.bodies[name][offset : offset + size]

        return read


@pytest.fixture(scope="module")
def mounts(tmp_path_factory: pytest.TempPathFactory) -> OwnMounts:
    found = OwnMounts.find(tmp_path_factory.mktemp("s"))
    if found.shown is None:
        pytest.skip(f"this machine mounts nothing: {found.copies_for}")
    return found


@pytest.fixture
def see(mounts: OwnMounts, tmp_path: Path) -> Callable[..., Any]:
    """Return a function that runs Python beside a tree, mounted at `data`, and returns what it prints as JSON."""

    def seen(tree: Tree, script: str) -> Any:
        base = tmp_path / "algo-1"
        (base / "data").mkdir(parents=True)
        assert mounts.shown is not None
        mounts.shown.show(tree, base / "data")
        within = mounts.command(base, Path("/opt/ml"), [base / "data"])
        done = subprocess.run(
            [*within, sys.executable, "-c", f"import json, os\n{script}"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return seen


def test_everything_is_listed_and_nothing_is_read(see: Callable[..., Any]) -> None:
    store = Store()
    names = [f"many/{number:05}.txt" for number in range(3_000)]
    tree = store.tree({"a.txt": b"one", "deep/er/b.txt": b"", **dict.fromkeys(names, b"x")})
    found = see(
        tree,
        "print(json.dumps([[folder, sorted(folders), sorted(files)] for folder, folders, files in os.walk('data')]))",
    )
    assert sorted(found) == [
        ["data", ["deep", "many"], ["a.txt"]],
        ["data/deep", ["er"], []],
        ["data/deep/er", [], ["b.txt"]],
        ["data/many", [], [name.partition("/")[2] for name in names]],
    ]
    assert store.read == []


def test_what_is_known_of_a_file_is_known_without_reading_it(see: Callable[..., Any]) -> None:
    store = Store()
    script = "s = os.stat('data/x'); print(json.dumps([s.st_size, s.st_mtime, oct(s.st_mode), os.path.isdir('data')]))"
    assert see(store.tree({"x": LARGE}), script) == [len(LARGE), 1_600_000_000.5, "0o100444", True]
    assert store.read == []


def test_a_file_is_read_in_parts_and_only_that_file(see: Callable[..., Any]) -> None:
    store = Store()
    script = "import hashlib; print(json.dumps(hashlib.sha256(open('data/x', 'rb').read()).hexdigest()))"
    assert see(store.tree({"x": LARGE, "y": LARGE}), script) == hashlib.sha256(LARGE).hexdigest()
    assert {name for name, _, _ in store.read} == {"x"}
    assert len(store.read) > 1


def test_a_part_of_a_file_does_not_cost_the_whole(see: Callable[..., Any]) -> None:
    store = Store()
    script = """
os.posix_fadvise(handle := os.open("data/x", os.O_RDONLY), 0, 0, os.POSIX_FADV_RANDOM)
print(json.dumps(os.pread(handle, 10, 2_000_000).hex()))"""
    assert see(store.tree({"x": LARGE}), script) == LARGE[2_000_000:2_000_010].hex()
    assert sum(size for _, _, size in store.read) < len(LARGE) / 10


@pytest.mark.parametrize(
    "change",
    [
        "open('data/x', 'w')",
        "open('data/new', 'w')",
        "os.remove('data/x')",
        "os.mkdir('data/folder')",
        "os.rename('data/x', 'data/y')",
        "os.chmod('data/x', 0o777)",
        "os.truncate('data/x', 0)",
    ],
)
def test_nothing_there_can_be_changed(see: Callable[..., Any], change: str) -> None:
    script = f"""
import errno
try:
    {change}
except OSError as error:
    print(json.dumps(errno.errorcode[error.errno]))
"""
    assert see(Store().tree({"x": b"1"}), script) == "EROFS"


def test_an_object_that_is_gone_is_an_input_output_error(see: Callable[..., Any]) -> None:
    store = Store()
    tree = store.tree({"x": b"1", "y": b"2"})
    del store.bodies["x"]
    script = """
import errno
try:
    open("data/x").read()
except OSError as error:
    print(json.dumps([errno.errorcode[error.errno], open("data/y").read(), os.path.exists("data/z")]))
"""
    assert see(tree, script) == ["EIO", "2", False]


def test_a_host_s_mounts_are_seen_by_nobody_else(mounts: OwnMounts, see: Callable[..., Any]) -> None:
    assert see(Store().tree({"x": b"1"}), "print(json.dumps(os.listdir('/opt/ml')))") == ["data"]
    assert "fuse.s3" not in Path("/proc/self/mounts").read_text()
    assert mounts.description == ""


def test_a_program_that_is_not_there_ends_as_in_a_container(mounts: OwnMounts, tmp_path: Path) -> None:
    base = tmp_path / "algo-1"
    base.mkdir()
    within = mounts.command(base, Path("/opt/ml"), [])
    done = subprocess.run([*within, "no-such-program"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (127, 'exec: "no-such-program": executable file not found in $PATH\n')


def test_paths_that_lead_out_are_left_out() -> None:
    store = Store()
    tree = store.tree({"../up": b"1", "a/../b": b"1", "./c": b"1", "d//e": b"1", "f": b"1", "f/g": b"1"})
    top = tree[ROOT]
    assert isinstance(top, Folder)
    assert set(top.entries) == {b"d", b"f"}
    assert isinstance(tree[top.entries[b"f"]], File)


def test_a_machine_without_namespaces_is_told_and_gets_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = OwnMounts.find(tmp_path)
    assert found.shown is None
    assert found.command(tmp_path, tmp_path, [tmp_path]) == []
    assert found.join(tmp_path) == ""
    assert found.description == (
        "trainings have a folder in the place of /opt/ml, and channels of FastFile are copies, "
        "for this machine gives no namespaces: there is no `unshare` on this machine"
    )


def test_who_is_not_root_mounts_the_same_in_a_user_namespace(
    see: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    users = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*users, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine gives users no namespaces of their own")
    monkeypatch.setattr(own_mounts, "_NAMESPACES", users[1:])
    script = "print(json.dumps([os.getuid(), open('/opt/ml/data/x').read(), os.access('/opt/ml/data/x', os.W_OK)]))"
    assert see(Store().tree({"x": b"1"}), script) == [0, "1", False]
