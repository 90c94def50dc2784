"""What can be done with the stacks of an account: written down, deployed, looked at, taken away."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.aws.account.cloudformation import Stacks
from orchestrator.aws.account.ecr import Ecr
from orchestrator.aws.account.identity import account_of_credentials
from orchestrator.aws.account.queues import Queues
from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.errors import NotFound, SweepError, UsageError, did_you_mean
from orchestrator.infra.fill import control_region, fill
from orchestrator.infra.names import (
    ACCOUNT,
    CONTROL_STACK,
    LAUNCHER_REPOSITORY,
    REGION_STACK,
    ROLES,
    account_of_roles,
    names,
    ours,
)
from orchestrator.infra.stacks import deploy, destroy, state
from orchestrator.infra.stacks.deploy import Wanted
from orchestrator.infra.stacks.template import control_template, region_template, write_template
from orchestrator.settings.settings import PROJECT_FILE, project_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from orchestrator.aws.account.cloudformation import Stack
    from orchestrator.images.launcher import Brought, Parts
    from orchestrator.infra.fill import Filled
    from orchestrator.infra.names import Names
    from orchestrator.infra.stacks.deploy import Planned
    from orchestrator.infra.stacks.destroy import Going
    from orchestrator.infra.stacks.state import StackState
    from orchestrator.settings.settings import Settings

_ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+")


class Infra:
    """The stacks that the settings ask for, in the account of our credentials."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._clients = Clients(settings.profile)

    def template(self, region: str | None = None) -> str:
        """Return the template of the control Region, or of a Region that is trained in. Nothing is asked of AWS."""
        if region is not None:
            self._check_regions([region])
        wanted = names(self._settings, ACCOUNT)
        return write_template(region_template(wanted, region) if region else control_template(wanted))

    def regions(self, chosen: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the Regions to train in: those of [infra], or of the stack, and those chosen; or the control Region.

        Raise UsageError for a name that no Region of AWS has.
        """
        self._check_regions((self._settings.region, *chosen, *self._settings.infra.regions))
        known = self._settings.infra.regions or self._deployed_regions()
        return tuple(dict.fromkeys((*known, *chosen))) or (self._settings.region,)

    def plan_changes(self, regions: Sequence[str], *, reverts_drift: bool = False) -> list[Planned]:
        """Return what deploying would change, stack by stack; nothing where all is as it should be.

        Unless it `reverts_drift`, what somebody has changed by hand stays so: CloudFormation does not look at it.
        Raise UsageError if the settings name what lies in another Region or account. Raise Refused while jobs wait or
        run in queues that would go. Nothing is changed.
        """
        self._check_file()
        wanted = self._names(regions)
        self._check_given(wanted)
        stacks = [replace(each, reverts_drift=reverts_drift) for each in self._stacks(wanted)]
        planned = deploy.plan_changes(stacks)
        lost = [
            change.physical
            for each in planned
            for change in each.changes
            if change.type == destroy.QUEUE and (change.action == "Remove" or change.is_replaced)
        ]
        try:
            destroy.refuse_living_jobs(lost, wanted.region, Queues(self._clients, wanted.region))
        except SweepError:
            self.drop(planned)
            raise
        return planned

    def left_out(self, regions: Sequence[str]) -> tuple[str, ...]:
        """Return the Regions that were deployed last and are not among these: their stacks stay, and serve nobody."""
        return tuple(region for region in self._deployed_regions() if region not in regions)

    def carry_out(self, planned: Sequence[Planned]) -> Iterator[Stack]:
        """Change the stacks, and yield each as it stands in the end."""
        return deploy.carry_out(planned)

    def drop(self, planned: Sequence[Planned]) -> None:
        """Take back what was planned."""
        deploy.drop(planned)

    @property
    def has_own_image(self) -> bool:
        """True if the launcher's image is the team's own: then none is made."""
        return "launcher_image" in self._names(()).theirs

    def bring_image(self, parts: Parts) -> Brought:
        """Put the launcher's image into its repository in the control Region, unless it is there.

        Raise UsageError if the settings name an image of the team's own.
        """
        from orchestrator.images.launcher import bring

        if self.has_own_image:
            hint = "take `launcher_image` out of the settings to have one made"
            raise UsageError(
                "the launcher's image is one of your own", where=str(self._settings.launcher_image), hint=hint
            )
        ecr = Ecr(self._clients, self._settings.region)
        ecr.make_repository(LAUNCHER_REPOSITORY)
        return bring(replace(parts, base=parts.base or self._settings.launcher_base or ""), ecr, LAUNCHER_REPOSITORY)

    def fill(self, regions: Sequence[str], image: str = "") -> Filled:
        """Write the names of all that was made into sweep.toml, here or above; what it says already stays.

        The launcher's image is named as it is given, by its digest, in place of the one before.
        """
        made = self._names(regions)
        left_out = {*made.theirs, "launcher_image"}
        values = {name: getattr(made, name) for name in ours(made.account, made.region) if name not in left_out}
        return fill(_settings_file(), {"region": made.region, **values}, made.regions, image)

    def fill_image(self, image: str) -> Filled:
        """Write the address of the launcher's image into sweep.toml, and nothing else."""
        return fill(_settings_file(), {}, None, image)

    def status(self) -> list[StackState]:
        """Return how each stack stands: its version, and what somebody has changed since it was deployed."""
        return state.look(list(self._stacks(self._names(self.regions()))))

    def plan_destruction(self, regions: Sequence[str] = ()) -> list[Going]:
        """Return what would go and what would stay: of these Regions' stacks, or of all and the control Region's.

        Raise Refused while jobs wait or run in the queues that would go.
        """
        self._check_regions(regions)
        known = self._names(tuple(dict.fromkeys(regions)) or self.regions())
        if not regions:  # a stack may be left of a time when the control Region was trained in, too
            known = replace(known, regions=tuple(dict.fromkeys((*known.regions, known.region))))
        stacks = [each for each in self._stacks(known) if not regions or each.name == REGION_STACK]
        return destroy.plan_destruction(stacks, self._clients, known)

    def destroy(self, going: Sequence[Going]) -> Iterator[Going]:
        """Delete stacks, and yield each when it is gone. What holds data stays."""
        return destroy.destroy(going)

    def forget(self, regions: Sequence[str]) -> Filled | None:
        """Take Regions out of sweep.toml, whose stacks have gone. None where it does not name them, or no other."""
        left = [region for region in self._settings.infra.regions if region not in regions]
        if not left or len(left) == len(self._settings.infra.regions) or not project_file(Path.cwd()):
            return None
        return fill(_settings_file(), {}, left)

    def _names(self, regions: Sequence[str]) -> Names:
        account = account_of_credentials(self._clients, self._settings.region)
        other = account_of_roles(self._settings)
        if other and other != account:
            raise UsageError(
                f"the settings name roles of the account {other}, and these credentials are of {account}",
                hint="name the right profile with --profile, or take the roles out of the settings",
            )
        return names(self._settings, account, tuple(regions))

    def _stacks(self, wanted: Names) -> Iterator[Wanted]:
        """Yield the stacks as they should be, the control Region's first."""
        general = names(self._settings, ACCOUNT, wanted.regions)
        control = write_template(control_template(general))
        yield Wanted(CONTROL_STACK, Stacks(self._clients, wanted.region), control)
        for region in wanted.regions:
            template = write_template(region_template(general, region))
            yield Wanted(REGION_STACK, Stacks(self._clients, region), template)

    def _deployed_regions(self) -> tuple[str, ...]:
        """Return the Regions that were deployed last, as the control Region's stack tells; none if it tells nothing."""
        stack = Stacks(self._clients, self._settings.region).find(CONTROL_STACK)
        told = stack.outputs.get("Regions", "") if stack else ""
        return tuple(region for region in told.split(",") if region)

    def _check_given(self, wanted: Names) -> None:
        """Raise UsageError for a role of the team's own that is none, and a bucket that is not where it is used."""
        for name in wanted.theirs & set(ROLES):
            if not _ROLE.fullmatch(role := getattr(wanted, name)):
                raise UsageError(f"{name} is no role's ARN: {role!r}", hint="arn:aws:iam::<account>:role/<name>")
        buckets = {("bucket", wanted.region): wanted.bucket} if "bucket" in wanted.theirs else {}
        if "region_bucket" in wanted.theirs:
            buckets |= {("region_bucket", region): wanted.bucket_of(region) for region in wanted.regions}
        for (name, region), bucket in buckets.items():
            try:
                S3(self._clients, region, bucket).check_region()
            except NotFound as error:
                hint = f"mend `{name}` in the settings, or take it out to have a bucket made"
                raise UsageError(error.message, where=region, hint=hint) from error

    def _check_regions(self, regions: Iterable[str]) -> None:
        """Raise UsageError for a name that no Region has, as far as our SDK knows."""
        known = self._clients.regions("cloudformation", self._settings.region)
        for region in regions:
            if region not in known:
                near = did_you_mean(region, known)
                raise UsageError(f"there is no Region {region!r}", hint=f"{near}; a newer boto3 may know more")

    def _check_file(self) -> None:
        """Raise UsageError if sweep.toml is of another control Region: its names would be taken for the team's own."""
        file = project_file(Path.cwd())
        said = control_region(file) if file else ""
        if file and said and said != self._settings.region:
            raise UsageError(
                f"its control Region is {said}, and this is for {self._settings.region}",
                where=str(file),
                hint="leave --region and SWEEP_REGION out, or deploy from a folder with a sweep.toml of its own",
            )


def _settings_file() -> Path:
    """Return the settings file that is in force, or the one that is to be made here."""
    return project_file(Path.cwd()) or Path(PROJECT_FILE).resolve()
