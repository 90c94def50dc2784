"""Makes an instance of the local cloud a container that the real cloud-init boots. A script of its own.

    machine.py CLOUD_INIT: the folder that Debian's packages have been unpacked into

User data calls it. The container has this machine's files, and writes to none of them. In a network of its own, the
metadata service answers at 169.254.169.254, and the cloud where it does outside. Standard library only.
"""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_METADATA = ("169.254.169.254", 80)

CONFIG = """\
datasource_list: [Ec2]
datasource: {Ec2: {timeout: 20, max_wait: 60}}
network: {config: disabled}
disable_root: false
preserve_hostname: true
cloud_init_modules: []
cloud_config_modules: []
cloud_final_modules: [scripts-user]
system_info: {distro: debian, default_user: {name: root}}
"""
"""What cloud-init is to do: to find the user data, and run it."""
LAY_OUT = """\
set -e
mount -t tmpfs tmpfs "$base/written"
mkdir "$base/written/upper" "$base/written/work"
cp -a "$packages" "$base/written/packages"
if [ -L /lib ]; then
    cp -a "$base/written/packages/lib" "$base/written/packages/usr/"
    rm -r "$base/written/packages/lib"
fi
layers="lowerdir=$base/written/packages:/,upperdir=$base/written/upper,workdir=$base/written/work"
mount -t overlay overlay -o "$layers" "$base/system"
mount -t proc proc "$base/system/proc"
mount --rbind /dev "$base/system/dev"
mount --rbind /opt "$base/system/opt"
mount --bind "$base/sys" "$base/system/sys"
cp "$base/cloud.cfg" "$base/system/etc/cloud/cloud.cfg"
rm -rf "$base/system/etc/cloud/cloud.cfg.d" "$base/system/run" "$base/system/var/lib/cloud"
mkdir -p "$base/system/run"
for program in "$programs"/*; do
    for folder in sbin bin; do rm -f "$base/system/usr/$folder/${program##*/}"; done
    cp "$program" "$base/system/usr/sbin/"
done
boot="cloud-init init && cloud-init modules --mode=final"
exec chroot "$base/system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -c "$boot"
"""


def main(packages: str) -> int:
    """Boot the container, and return what cloud-init ends with."""
    outside = os.open("/proc/self/ns/net", os.O_RDONLY)
    libc = ctypes.CDLL(None, use_errno=True)
    _check(libc.unshare(_NEW_NETWORK))
    orders = f"link set lo up\naddress add {_METADATA[0]}/32 dev lo\n"
    subprocess.run(["ip", "-batch", "-"], input=orders, text=True, check=True)
    metadata = _address(os.environ["AWS_EC2_METADATA_SERVICE_ENDPOINT"])
    cloud = _address(os.environ["AWS_ENDPOINT_URL"])
    # A socket belongs to the network in which it was made: these listen inside.
    inside = {socket.create_server(at): to for at, to in ((_METADATA, metadata), (metadata, metadata), (cloud, cloud))}
    container = subprocess.Popen(
        ["unshare", "--mount", "--pid", "--uts", "--fork", "--kill-child", "sh", "-c", LAY_OUT], env=_laid_out(packages)
    )
    _check(libc.setns(outside, _NEW_NETWORK))  # and what is connected from here on, is connected outside
    for listener, to in inside.items():
        threading.Thread(target=_accept, args=(listener, to), daemon=True).start()
    return container.wait()


def _laid_out(packages: str) -> dict[str, str]:
    """Make the container's folders, and return the variables that say where they are."""
    base = Path(os.environ["TMPDIR"]) / "container"
    for name in ("written", "system", "sys/hypervisor", "sys/class/net"):
        (base / name).mkdir(parents=True)
    (base / "cloud.cfg").write_text(CONFIG)
    (base / "sys/hypervisor/uuid").write_text("ec2e1916-9099-7caf-fd21-012345abcdef\n")  # EC2, to cloud-init
    programs = next(path for path in os.environ["PATH"].split(os.pathsep) if path.endswith("/programs"))
    return {**os.environ, "base": str(base), "packages": packages, "programs": programs}


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return str(parts.hostname), int(parts.port or 80)


def _accept(listener: socket.socket, to: tuple[str, int]) -> None:
    while True:
        connection, _ = listener.accept()
        other = socket.create_connection(to)
        for source, target in ((connection, other), (other, connection)):
            threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:  # one of the two has gone
        source.close()
        target.close()


def _check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
