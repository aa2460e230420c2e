"""Cron jobs: jobs by the clock."""

from dataclasses import dataclass

from registry.core import pod_spec
from registry.kind import Kind
from registry.strategy import StatusStrategy, Strategy
from storage.stored_object import Object


@dataclass(frozen=True, kw_only=True)
class CronJobStrategy(Strategy):
    """Jobs may overlap, and a few of them are kept. The template of jobs gets no defaults of jobs: it is none yet."""

    def default(self, obj: Object) -> None:
        spec = obj["spec"]
        pod_spec.default_template(spec["jobTemplate"]["spec"]["template"])
        spec.setdefault("concurrencyPolicy", "Allow")
        spec.setdefault("suspend", False)
        spec.setdefault("successfulJobsHistoryLimit", 3)
        spec.setdefault("failedJobsHistoryLimit", 1)


CRONJOBS = Kind(
    group="batch",
    plural="cronjobs",
    kind="CronJob",
    short_names=("cj",),
    categories=("all",),
    strategy=CronJobStrategy(has_status=True, has_generation=True),
    status_strategy=StatusStrategy(),
)
