"""Results in Trackio: a run of each setting, in a project of the benchmark's name."""

from __future__ import annotations

from harness.cli.trackers import TrackedRun


def log(tracked: TrackedRun) -> str:
    """Log to the local store of Trackio, which ``trackio show`` opens."""
    import trackio

    for name, parameters in tracked.settings.items():
        trackio.init(project=tracked.name, name=name, config=parameters)
        trackio.log(dict(tracked.means[name]))
        trackio.finish()
    return f"Trackio: trackio show --project {tracked.name}"
