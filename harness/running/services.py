"""Answers of user-defined services: those that are kept, and the others from the service."""

from __future__ import annotations

from typing import Any

from harness import models
from harness.running.resources import Resources
from harness.steps import Answers, Message, send


def missing_of(need: Answers, resources: Resources) -> list[str]:
    """The texts whose answers are not kept."""
    kept = (resources.kept("answer", resources.key(*facts)) for facts, _ in need.texts)
    return [text for (_, text), answer in zip(need.texts, kept, strict=True) if answer is None]


def answers_of_service(need: Answers, resources: Resources) -> list[Any]:
    """The answer to each text: the kept one, else the service is asked and its answer is kept."""
    service, keys = need.service, [resources.key(*facts) for facts, _ in need.texts]
    texts = dict(zip(keys, (text for _, text in need.texts), strict=True))
    answers = {key: resources.kept("answer", key) for key in texts}
    missing = [key for key, answer in answers.items() if answer is None]
    size = service.batch_size if service.asks_several else 1
    groups = [missing[start : start + size] for start in range(0, len(missing), size)]
    groups_of_texts = [[texts[key] for key in group] for group in groups]

    def keep(place: int, answer: Any) -> None:
        # checked before it is stored: an answer that breaks the contract is requested again
        several = need.read(answer if service.asks_several else [answer], groups_of_texts[place])
        for key, value in zip(groups[place], several, strict=True):
            resources.keep("answer", key, value)
            answers[key] = value

    if groups:
        with resources.timed(need.stage):
            need.prepare()
            bodies = [
                models.fill(service.request, {"query": group[0], "queries": group, **need.given})
                for group in groups_of_texts
            ]
            send(
                service,
                [Message(body, service.url, service.method, service.response) for body in bodies],
                keep,
            )
    return [answers[key] for key in keys]
