"""Small invented worlds in which everything a model could be asked about an answer is known.

A world is one JSON object: what each text states and supports, which entities it names, its vector. ragas and
our measures are asked about the same world, each in its own prompts; every "model" answers from it.
"""

import json
import random

from .helpers import case

STATES = [f"Pump {name} was sold in {year}." for name in ("Alpha", "Beta", "Gamma") for year in (2019, 2022)]


def world(seed):
    """A random world: an answer, a golden answer, passages, and all that is to be known of them."""
    rng = random.Random(seed)
    passages = [f"passage {i} of {seed}" for i in range(rng.randint(1, 5))]
    golden = rng.sample(STATES, rng.randint(1, 4))
    reference, response = " ".join(golden), f"answer of {seed}"
    reply = rng.sample(STATES, rng.randint(1, 5))
    texts = [*passages, reference, response]
    entities = [f"Entity {i}" for i in range(6)]
    questions = [f"question {i} of {seed}" for i in range(3)]
    vectors = {
        text: [rng.randint(-64, 64) / 64 for _ in range(4)] or [1.0]
        for text in (*questions, f"asked {seed}", reference, response)
    }
    return {
        "user_input": f"asked {seed}",
        "response": response,
        "reference": reference,
        "retrieved_contexts": passages,
        "statements": {response: reply, reference: golden},
        "supports": {text: rng.sample(STATES, rng.randint(0, len(STATES))) for text in texts},
        "useful": [rng.randint(0, 1) for _ in passages],
        "entities": {text: rng.sample(entities, rng.randint(1, 4)) for text in (reference, *passages)},
        "questions": [
            {"question": text, "noncommittal": int(rng.random() < (0.9 if seed % 7 == 0 else 0.2))}
            for text in questions
        ],
        "verdict": rng.randint(0, 1),
        "grades": [rng.randint(0, 2), rng.randint(0, 2)],
        "vectors": {text: [*vector[:3], vector[3] or 1.0] for text, vector in vectors.items()},
    }


def case_of(world):
    """The world as a case."""
    return case(
        world["response"],
        world["reference"],
        question=world["user_input"],
        passages=world["retrieved_contexts"],
    )


def reply_in(world):
    """Our model's replies in a world."""

    def supported(passages, statements):
        follow = {one for text in json.loads(passages) for one in world["supports"][text]}
        verdicts = [
            {"number": n, "verdict": int(one in follow)} for n, one in enumerate(json.loads(statements), 1)
        ]
        return {"verdicts": verdicts}

    def entities(text):
        return {"entities": sorted({one for line in text.split("\n") for one in world["entities"][line]})}

    def reply(name, query, texts, sample):
        step = name.split(" v")[0]
        if step == "supported":
            return json.dumps(supported(*texts))
        if step == "contradicted":
            count = len(json.loads(texts[1]))
            return json.dumps({"verdicts": [{"number": n, "verdict": n % 2} for n in range(1, count + 1)]})
        if step == "attributed":
            follow = {one for text in json.loads(texts[0]) for one in world["supports"][text]}
            golden = world["statements"][texts[1]]
            return json.dumps(
                {"statements": [{"statement": one, "verdict": int(one in follow)} for one in golden]}
            )
        if step == "entities":
            return json.dumps(entities(texts[0]))
        if step == "useful":
            return json.dumps({"verdict": world["useful"][world["retrieved_contexts"].index(texts[1])]})
        replies = {
            "statements": lambda: {"statements": world["statements"][texts[0]]},
            "question": lambda: world["questions"][sample],
            "aspect": lambda: {"verdict": world["verdict"]},
            "relevance": lambda: {"grade": world["grades"][sample]},
        }
        return json.dumps(replies[step]())

    return reply
