"""Write traces as the API of Langfuse declares them, by the types in its own package.

Reads traces with observations, by the names of the API, as JSON from standard input. Prints the names of the
fields of each type that the installed package has, and the same traces as those types write them.
"""

import json
import sys
from typing import Any

import langfuse.api

# what the types demand and no test is about, by name of the API
FILLED: dict[str, Any] = {
    "tags": [],
    "public": False,
    "environment": "default",
    "htmlPath": "/project/p/traces/t",
    "scores": [],
    "modelParameters": None,
    "metadata": {},
    "usage": {"input": 1, "output": 1, "total": 2},
    "usageDetails": {},
    "costDetails": {},
    "level": "DEFAULT",
    "projectId": "p",
    "input": None,
    "output": None,
}


def names(model):
    """The name in the API of each field of a type, by its name in Python."""
    return {
        field: next((note.alias for note in info.metadata if hasattr(note, "alias")), info.alias or field)
        for field, info in model.model_fields.items()
    }


def built(model, record):
    """A value of a type from a record by names of the API; raises ValidationError where it does not fit."""
    required = {field for field, info in model.model_fields.items() if info.is_required()}
    whole = {**FILLED, **record}
    return model(
        **{field: whole[name] for field, name in names(model).items() if name in record or field in required}
    )


def main():
    """Print what the installed package declares and writes."""
    traces = json.load(sys.stdin)
    declared, written = {}, {}
    for name in ("TraceWithFullDetails", "ObservationsView", "ObservationV2"):
        if model := getattr(langfuse.api, name, None):
            declared[name] = sorted(names(model).values())
    if view := getattr(langfuse.api, "ObservationsView", None):
        whole = [
            {**trace, "observations": [built(view, row) for row in trace["observations"]]} for trace in traces
        ]
        rows = [built(langfuse.api.TraceWithFullDetails, trace) for trace in whole]
        written["trace"] = [json.loads(row.json()) for row in rows]
    if view := getattr(langfuse.api, "ObservationV2", None):
        rows = [built(view, row) for trace in traces for row in trace["observations"]]
        page = langfuse.api.ObservationsV2Response(data=rows, meta={})
        written["observations"] = [json.loads(page.json())]
    json.dump({"declared": declared, "written": written}, sys.stdout)


if __name__ == "__main__":
    main()
