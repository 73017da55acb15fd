"""Scores worlds with ragas 0.4.3, in an environment of its own: worlds on stdin, values on stdout, as JSON.

    ORACLE/bin/python tests/answer/ragas_oracle.py < worlds.json > values.json

Its environment: pip install ragas==0.4.3 and langchain, langchain-core, langchain-openai and
langchain-community, all four at 0.3 (without them ragas 0.4.3 does not import).
"""

import asyncio
import json
import sys

import numpy as np
from langchain_core.outputs import Generation, LLMResult
from ragas import metrics
from ragas.dataset_schema import SingleTurnSample
from ragas.llms.base import BaseRagasLLM
from ragas.metrics._nv_metrics import ContextRelevance

INPUT = "Now perform the same with the following input\ninput: "


class World(BaseRagasLLM):
    """A model that knows one world and answers the prompts of ragas from it."""

    def __init__(self, world):
        super().__init__()
        self.world = world

    def is_finished(self, response):
        return True

    def generate_text(self, *args, **kwargs):
        raise AssertionError("ragas 0.4.3 asks by agenerate_text alone; these metrics have changed")

    async def agenerate_text(self, prompt, n=1, temperature=None, stop=None, callbacks=None):
        texts = [json.dumps(self.answer(prompt.to_string(), i)) for i in range(n)]
        return LLMResult(generations=[[Generation(text=text) for text in texts]])

    def answer(self, text, sample):
        world = self.world
        if "### Context:" in text:
            return world["grades"][0 if "world class expert" in text else 1]
        given = json.loads(text.split(INPUT)[1].rsplit("Output:", 1)[0])
        keys = set(given)
        if keys == {"question", "answer"}:
            return {"statements": world["statements"][given["answer"]]}
        if keys == {"context", "statements"}:
            follow = self.follow(given["context"])
            return {"statements": [verdict(one, verdict=int(one in follow)) for one in given["statements"]]}
        if keys == {"question", "answer", "ground_truth"}:
            return self.classes(given["answer"], given["ground_truth"])
        if keys == {"question", "context", "answer"}:
            return self.about_context(given)
        if keys == {"text"}:
            lines = given["text"].split("\n")
            return {"entities": sorted({one for line in lines for one in world["entities"][line]})}
        if keys == {"response"}:
            return world["questions"][sample]
        return {"reason": "", "verdict": world["verdict"]}

    def about_context(self, given):
        world = self.world
        if "\n" not in given["context"] and self.step == "precision":
            place = world["retrieved_contexts"].index(given["context"])
            return {"reason": "", "verdict": world["useful"][place]}
        follow = self.follow(given["context"])
        golden = world["statements"][given["answer"]]
        return {"classifications": [verdict(one, attributed=int(one in follow)) for one in golden]}

    def follow(self, text):
        supports = self.world["supports"]
        return {one for line in ([text] if text in supports else text.split("\n")) for one in supports[line]}

    def classes(self, answer, golden):
        supports = self.world["supports"]
        true = supports[self.world["reference"]]
        covered = supports[self.world["response"]]
        return {
            "TP": [verdict(one) for one in answer if one in true],
            "FP": [verdict(one) for one in answer if one not in true],
            "FN": [verdict(one) for one in golden if one not in covered],
        }


def verdict(statement, **more):
    return {"statement": statement, "reason": "", **more}


class Vectors:
    """The embeddings of a world."""

    def __init__(self, world):
        self.of = world["vectors"]

    def embed_query(self, text):
        return self.of[text]

    def embed_documents(self, texts):
        return [self.of[text] for text in texts]

    async def embed_text(self, text):
        return self.of[text]


MEASURES = {
    "faithfulness": metrics.Faithfulness,
    "answer_relevancy": metrics.ResponseRelevancy,
    "answer_similarity": metrics.SemanticSimilarity,
    "answer_correctness": metrics.AnswerCorrectness,
    "context_precision": metrics.LLMContextPrecisionWithReference,
    "context_recall": metrics.LLMContextRecall,
    "context_relevance": ContextRelevance,
    "context_entity_recall": metrics.ContextEntityRecall,
    "noise_sensitivity": lambda: metrics.NoiseSensitivity(mode="relevant"),
    "noise_sensitivity_irrelevant": lambda: metrics.NoiseSensitivity(mode="irrelevant"),
    "aspect_critic": lambda: metrics.AspectCritic(name="short", definition="It is short."),
}


async def score(world):
    sample = SingleTurnSample(
        **{key: world[key] for key in ("user_input", "response", "reference", "retrieved_contexts")}
    )
    values = {}
    for name, make in MEASURES.items():
        metric = make()
        metric.llm, metric.embeddings = World(world), Vectors(world)
        metric.llm.step = "precision" if name == "context_precision" else name
        if name == "answer_correctness":
            metric.answer_similarity = metrics.SemanticSimilarity(embeddings=metric.embeddings)
        value = float(await metric.single_turn_ascore(sample))
        values[name] = None if np.isnan(value) else value
    return values


async def main():
    worlds = json.load(sys.stdin)
    json.dump([await score(world) for world in worlds], sys.stdout)


asyncio.run(main())
