"""What in `train.mpi_options` whoever starts mpirun sets too.

Open MPI ends each task on a parameter that is set twice. An equal value is left out of the request, with a caution.
Another value is complained of, and so is what says how many processes run, and where.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.platforms.base import Complaint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.spec.train.train import Train

_AT = ("train", "mpi_options")
_FLAGS = ("-mca", "--mca")
_SAYS_WHERE = {
    ("-np", "--np", "-n", "--n", "-c", "-N", "-npernode", "--npernode"): "write processes_per_instance",
    (
        "-H",
        "-host",
        "--host",
        "-hostfile",
        "--hostfile",
        "-machinefile",
        "--machinefile",
        "-rf",
        "-rankfile",
        "--rankfile",
        "-default-hostfile",
        "--default-hostfile",
        "-app",
        "--app",
    ): "leave it out, and write instances",
}
"""Options that say how many processes run, and where: a second one takes the place of ours, or is added to it."""
_ITS_OWN = ""
"""A value that depends on the machines, so that nothing is equal to it."""
_SET = {
    "btl_tcp_if_include": _ITS_OWN,
    "oob_tcp_if_include": _ITS_OWN,
    "plm_rsh_no_tree_spawn": "1",
    "pml": "ob1",
    "btl": "^openib",
    "orte_abort_on_non_zero_status": "1",
    "btl_vader_single_copy_mechanism": "none",
}
"""What AWS's training toolkit sets, and our starter with it: sagemaker_training/mpi.py, release 5.1.4."""
_SET_BY_SMDDP = {**_SET, "plm_rsh_num_concurrent": _ITS_OWN}
"""What the toolkit sets under smddp: sagemaker_training/smdataparallel.py of that release."""


@dataclass(frozen=True)
class _Option:
    """One `-mca NAME VALUE` among the words of the options."""

    index: int
    """The place of its flag among the words."""
    name: str
    value: str
    before: str | None
    """The value that was set for it before; None if there is none."""

    @property
    def is_repeat(self) -> bool:
        return self.before == self.value


def check_mpi_options(train: Train) -> Iterator[Complaint]:
    """Yield a complaint for each `-mca` that has no value, or sets what is set otherwise already."""
    words = train.mpi_options.split()
    for flag in _FLAGS:
        if flag in words[-2:]:
            yield Complaint(f"{' '.join(words[words.index(flag) :])}: a name and a value must follow {flag}", "", _AT)
            return
    for word in words:
        for names, instead in _SAYS_WHERE.items():
            if word in names:
                yield Complaint(f"{word}: AWS's toolkit and our starter say where processes run", instead, _AT)
    for option in _options(train):
        if option.before is None or option.is_repeat:
            continue
        value = option.before or "the value that fits the machines"
        who = "AWS's toolkit and our starter set it" if option.name in _set_anyway(train) else "it is set before"
        yield Complaint(
            f"-mca {option.name} {option.value}: {who} to {value}, and Open MPI ends a task that sets it twice",
            "leave it out",
            _AT,
        )


def mpi_cautions(train: Train) -> Iterator[str]:
    """Yield a caution for each `-mca` that is left out, because it is set to the same value anyway."""
    for option in _options(train):
        if option.is_repeat:
            what = f"mpi_options: -mca {option.name} {option.value}"
            yield f"{what} is set anyway, so it is left out: Open MPI takes it once"


def mpi_options_to_send(train: Train) -> str:
    """Return the options without the repeats of what is set anyway; as they are written if there are none."""
    left_out = [option.index for option in _options(train) if option.is_repeat]
    if not left_out:
        return train.mpi_options
    words = train.mpi_options.split()
    return " ".join(word for index, word in enumerate(words) if not any(0 <= index - at < 3 for at in left_out))


def _options(train: Train) -> Iterator[_Option]:
    """Yield each `-mca` of the options. AWS's toolkit splits them at spaces, whatever a shell would do."""
    known = dict(_set_anyway(train))
    words = train.mpi_options.split()
    for index, word in enumerate(words[:-2]):
        if word in _FLAGS:
            name, value = words[index + 1], words[index + 2]
            yield _Option(index, name, value, known.get(name))
            known.setdefault(name, value)


def _set_anyway(train: Train) -> dict[str, str]:
    return _SET_BY_SMDDP if train.parallel == "smddp" else _SET
