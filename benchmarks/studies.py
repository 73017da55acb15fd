"""Compare models from the hub on two collections, and write results/studies/README.md.

    make studies
    python -m benchmarks.studies --only lanchuan      # one collection
    python -m benchmarks.studies --config mine.yaml   # your own, in the form of configs/studies/models.yaml

Each model is tried alone first, so that one that cannot be loaded costs the others nothing; those that ran
are then compared in one run. Everything computed is kept: after an interruption, run it again.
"""

import argparse
import json
import platform
import sys
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import pandas as pd
import yaml

import harness
from harness.cli.terminal import TerminalReporter
from harness.values import HarnessError

ROOT = Path(__file__).parent.parent
HUB = "A model is fetched from the hub once: run this again with a network, and without HF_HUB_OFFLINE."


@dataclass
class Study:
    """What became of one collection: the folder of its results, and the models that gave none."""

    collection: str
    folder: Path | None = None
    ran: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    missing: str = ""


def study(collection, base, models, kept, reporter):
    """Try every model alone, then run those that work together; ``kept`` has the results."""
    found = Study(collection)
    for at, (name, setting) in enumerate(models.items(), start=1):
        try:
            print(f"{collection}: {name} ({at} of {len(models)})", flush=True)
            harness.run(config(f"{collection}_{at}", base, [setting], kept), reporter=reporter)
        except HarnessError as error:
            found.failed[name] = str(error).splitlines()[0]
            print(f"{collection}: {name} left out: {found.failed[name]}", flush=True)
        else:
            found.ran.append(name)
    if found.ran:
        settings = [models[name] for name in found.ran]
        found.folder = harness.run(config(collection, base, settings, kept), reporter=reporter).folder
    return found


def config(name, base, settings, kept):
    """The keys of a run."""
    return {"name": name, **base, "settings": settings, "results": str(kept)}


def shown(one):
    """The part of the page on one collection."""
    lines = [f"## {one.collection}", ""]
    if one.missing:
        return [*lines, f"Not run: {one.missing}", ""]
    if one.folder:
        verdict = json.loads((one.folder / "verdict.json").read_text(encoding="utf-8"))
        lines += [verdict["sentence"], "", *table(one, verdict["measure"]), ""]
        lines += [f"Everything: [report.html]({one.folder.name}/report.html).", ""]
    for name, reason in one.failed.items():
        lines.append(f"- **{name}** could not be run: {reason}")
    return [*lines, ""] if one.failed else lines


def table(one, measure):
    """The mean of every model at its last stage, the highest first."""
    record = json.loads((one.folder / "record.json").read_text(encoding="utf-8"))
    # settings stand as they were given
    names = dict(zip((made["name"] for made in record["config"]["settings"]), one.ran, strict=True))
    rows = pd.read_csv(one.folder / "summary.csv").query("split == 'all' and measure == @measure")
    lines = [f"| model | {measure} | 95% interval | queries |", "|---|---:|---|---:|"]
    for row in rows.groupby("setting").tail(1).sort_values("mean", ascending=False).to_dict("records"):
        interval = f"{row['ci_low']:.3f} to {row['ci_high']:.3f}"
        lines.append(f"| {names[row['setting']]} | {row['mean']:.3f} | {interval} | {row['n_queries']} |")
    return lines


def page(studies):
    """The page, from what was run and nothing else."""
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    lines = [
        "# Models from the hub",
        "",
        f"Made by `make studies` on {date.today():%Y-%m-%d}, {machine}.",
        "",
    ]
    lines += [line for one in studies for line in shown(one)]
    if any(one.failed for one in studies):
        lines += [HUB, ""]
    return "\n".join(lines)


def main(words=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--config", type=Path, default=ROOT / "configs" / "studies" / "models.yaml")
    parser.add_argument("--only", action="append", metavar="COLLECTION", help="this collection; repeatable")
    parser.add_argument("--to", type=Path, default=Path("results/studies"), help="where results and page go")
    arguments = parser.parse_args(words)
    plan = yaml.safe_load(arguments.config.read_text(encoding="utf-8"))
    unknown = {*(arguments.only or ())} - {*plan["collections"]}
    if unknown:
        parser.error(
            f"no collection {', '.join(sorted(unknown))}; there are {', '.join(plan['collections'])}"
        )
    studies = []
    for collection, base in plan["collections"].items():
        if arguments.only and collection not in arguments.only:
            continue
        if not Path(base["queries"]).is_file():
            studies.append(
                Study(collection, missing=f"{base['queries']} is not there; see {arguments.config}.")
            )
            continue
        studies.append(study(collection, base, plan["models"], arguments.to, TerminalReporter()))
        write(arguments.to, studies)
    write(arguments.to, studies)
    print(f"{arguments.to / 'README.md'}")
    return 0 if any(one.folder for one in studies) else 1


def write(folder, studies):
    """Write the page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "README.md").write_text(page(studies), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
