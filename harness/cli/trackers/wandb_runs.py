"""Results in Weights & Biases: a run of each setting in one group, with the summary as a table."""

from __future__ import annotations

import os

from harness.cli.trackers import TrackedRun


def log(tracked: TrackedRun) -> str:
    """Log to the project WANDB_PROJECT, or one of the benchmark's name; WANDB_MODE=offline keeps it here."""
    import wandb

    project = os.environ.get("WANDB_PROJECT", tracked.name)
    shared = {"project": project, "group": tracked.name, "reinit": True}
    for name, parameters in tracked.settings.items():
        with wandb.init(**shared, name=name, config=parameters) as run:
            run.summary.update(tracked.means[name])
    with wandb.init(**shared, name=f"{tracked.name}: verdict") as run:
        run.summary["verdict"] = tracked.verdict
        run.log({"summary": wandb.Table(dataframe=tracked.summary)})
        artifact = wandb.Artifact(f"results-{run.id}", type="results")
        artifact.add_dir(str(tracked.folder))
        run.log_artifact(artifact)
        where = run.url or run.dir
    return f"Weights & Biases: project {project}, {where}"
