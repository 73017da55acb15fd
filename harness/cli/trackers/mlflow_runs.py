"""Results in MLflow: a run of the benchmark with its files, and a nested run of each setting."""

from __future__ import annotations

import re

from harness.cli.trackers import TrackedRun

_REFUSED = re.compile(r"[^\w\-. :/]")


def log(tracked: TrackedRun) -> str:
    """Log to the store that MLflow is set to (MLFLOW_TRACKING_URI), under the experiment that is active."""
    import mlflow

    with mlflow.start_run(run_name=tracked.name, nested=mlflow.active_run() is not None) as run:
        mlflow.set_tags({"harness.config_sha256": str(tracked.record.get("config_sha256", ""))})
        mlflow.log_text(tracked.verdict, "verdict.txt")
        mlflow.log_artifacts(str(tracked.folder))
        for name, parameters in tracked.settings.items():
            with mlflow.start_run(run_name=name, nested=True):
                # MLflow takes parameters of up to 6,000 characters
                mlflow.log_params({key: str(value)[:6000] for key, value in parameters.items()})
                mlflow.log_metrics({_name(measure): mean for measure, mean in tracked.means[name].items()})
    return f"MLflow: run {run.info.run_id} at {mlflow.get_tracking_uri()}"


def _name(measure: str) -> str:
    """``ndcg_exp@10`` as MLflow takes it: ``ndcg_exp_at_10``."""
    return _REFUSED.sub("_", measure.replace("@", "_at_"))
