#!/bin/sh
# What `make toolkit` needs of a machine, and what trainings under the toolkit will: machine.sh PYTHON
# Fails when something is missing that the installation cannot do without; says what the rest would be good for.
set -eu
headers=$("$1" -c 'import sysconfig; print(sysconfig.get_path("include"))')
missing=
command -v cc > /dev/null || missing="$missing a C compiler (gcc);"
test -e "$headers/Python.h" || missing="$missing Python's headers ($headers/Python.h: python3-dev);"
command -v which > /dev/null || missing="$missing the program which;"
if [ -n "$missing" ]; then
    echo "AWS's training toolkit, which compiles a small library, misses:$missing install that first" >&2
    exit 1
fi
if [ "$(uname)" != Linux ]; then
    echo "Without Linux there are no namespaces: under the toolkit run trainings of one instance, without MPI." >&2
    exit
fi
PATH="$PATH:/usr/sbin:/sbin"
for pair in unshare:util-linux ip:iproute2; do
    command -v "${pair%%:*}" > /dev/null ||
        echo "There is no ${pair%%:*}: several instances and MPI need it under the toolkit (package ${pair##*:})." >&2
done
if [ ! -x /usr/sbin/sshd ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
        # A system package is nothing that a make target may install unasked; SSHD=yes is the answer beforehand.
        answer=${SSHD:-}
        if [ -z "$answer" ] && [ -t 0 ]; then
            printf '%s' "Install openssh-server by apt-get, by which MPI's hosts log in to each other? It is not started [y/N] " >&2
            read -r answer || answer=no
        fi
        case $answer in
            [Yy]*) { apt-get update -qq && RUNLEVEL=1 apt-get install -qq --no-install-recommends openssh-server; } > /dev/null ;;
            *) echo "openssh-server is not installed: MPI needs it under the toolkit (make toolkit SSHD=yes installs it)." >&2 ;;
        esac
    else
        echo "There is no /usr/sbin/sshd: MPI needs it under the toolkit (package openssh-server)." >&2
    fi
fi
