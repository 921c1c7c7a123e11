"""Hands a sweep's whole batch of jobs to one process, so that its arms share one engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from parley.config import with_choices

# A plain mapping: Hydra loads plugins without registering them as modules, which dataclasses need.
ConfigStore.instance().store(
    group="hydra/launcher",
    name="parley",
    node={"_target_": "hydra_plugins.parley_launcher.ParleyLauncher"},
)


class ParleyLauncher(Launcher):
    """Composes every job, then calls the task's `batch` once with all of them.

    A job whose config cannot be composed is handed on as its error, and leaves the others alone.
    """

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        jobs: list[tuple[list[str], DictConfig | Exception]] = []
        for overrides in job_overrides:
            try:
                config = self.hydra_context.config_loader.load_sweep_config(
                    self.config, list(overrides)
                )
                choices = dict(config.hydra.runtime.choices)
                jobs.append((list(overrides), with_choices(config, choices)))
            except Exception as error:
                jobs.append((list(overrides), error))
        batch: Any = self.task_function
        scores = batch.batch(jobs)
        results = []
        for (overrides, composed), score in zip(jobs, scores, strict=True):
            job = JobReturn(overrides=overrides, status=JobStatus.COMPLETED)
            job.cfg = composed if isinstance(composed, DictConfig) else None
            job.working_dir = str(Path.cwd())
            job.return_value = score
            results.append(job)
        return results
