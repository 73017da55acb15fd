"""Documents, commands and a model for the tests of this room."""

import json
from dataclasses import replace
from pathlib import Path

from harness.labels import Question, SetState, to_csv
from tests.command import exit_code as run
from tests.command import printed, refused

REPORT = """# Acme Motors annual report 2023

## Plants

The plant in Lyon was closed in May 2023. The plant in Turin employs 1,240 people. In Turin the Alto is built.

The headquarters of Acme Motors are in Geneva. Acme Motors was founded by Carla Meier in 1961 in a barn.

## Results

Total revenue was 96,773 million in 2023. Operating profit was 8,891 million. Capital spending rose 12%.

Deliveries of the Alto Classic fell 4% in Europe. The warranty of the Alto covers eight years or 160,000 km.

## Outlook

Acme Motors expects deliveries of 410,000 cars. Carla Meier remains honorary chair.
"""
TABLE = """region,revenue,employees
Europe,41200,9100
Asia,32900,7400
Americas,22673,6300
"""
GUIDE = """# Alto owner's guide

## Charging

Charge the Alto at home overnight. A full charge takes 7 hours at a wall box, 40 minutes at a fast one.

## Care

Wash the car by hand. The Alto Classic wants its oil changed every 15,000 km, or once a year.

## Questions

### Is the battery covered?

The battery is covered for eight years. Ask a dealer in Lyon or Turin for the form that starts a claim.
"""
DOCUMENTS = {"report.md": REPORT, "regions.csv": TABLE, "guide.md": GUIDE}


def testset(*words):
    return run("testset", "set", *words)


testset.__test__ = False


def step_printed(capsys, *words):
    """The output of a step that succeeds, on one line."""
    return printed(capsys, "testset", "set", *words)


def step_refused(capsys, *words):
    """The message of a step that fails, on one line."""
    return refused(capsys, "testset", "set", *words)


def written_by_hand():
    """Propose questions as a person does who writes one about each passage; returns them."""
    assert testset("propose", "--by-hand") == 0
    state = SetState(Path("set"))
    rows = [
        replace(one, text=f"What is said of {one.passage.split()[0]} in case {number}?")
        for number, one in enumerate(state.rows(Question))
    ]
    state.path(Question).write_text(to_csv(Question, rows), encoding="utf-8")
    return rows


def configure(more):
    """Add to testset.yaml."""
    with Path("set/testset.yaml").open("a", encoding="utf-8") as file:
        file.write(more)


def model(url, more=""):
    """The section of testset.yaml that names a local server."""
    return (
        f"llm:\n  endpoint: {{model: fake, base_url: '{url}', api_key_env: null, timeout: 120, "
        "deadline: 300, max_concurrency: 4}\n  prices: {fake: {input: 10.0, output: 100.0}}\n" + more
    )


def passages_of(request):
    """The passages that a prompt shows."""
    lines = request["body"]["messages"][-1]["content"].split("\n")
    found, inside = [], None
    for line in lines:
        if line.startswith("<passage "):
            inside = []
        elif line.startswith("</passage "):
            found.append("\n".join(inside))
            inside = None
        elif inside is not None:
            inside.append(line)
    return found


def prompt_of(request):
    return "\n".join(message["content"] for message in request["body"]["messages"])


def scripted(request, number):
    """A model that proposes, grades and answers by what it is shown."""
    from tests.judge.fake_server import says

    prompt, passages = prompt_of(request), passages_of(request)
    if "You write questions for a test" in prompt:
        unanswerable = "quotes is an empty list.\n" in prompt or "which such documents might give" in prompt
        words = passages[0].split()
        # a table has few words
        at = len(words) // 3
        quote = " ".join(words[at : at + 6])
        asked = f"What is said near {words[at]} in case {number}?"
        return says(json.dumps({"question": asked, "quotes": [] if unanswerable else [quote]}))
    if "model answers of a test" in prompt:
        return says("96,773 million")
    return says(json.dumps({"grade": 4 if "Total revenue" in passages[0] else 0}))
