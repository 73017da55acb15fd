"""A local endpoint that speaks OpenAI's chat completions and batches and answers by rules, for recipes.

It knows the golden answers of the recipes' questions, looks for their figures and words in the passages that
it is shown, and words its reply as the prompt wants it. It shows the whole path of a recipe, offline and the
same each time; its values say nothing about any language model.

    python -m benchmarks.rule_endpoint
    harness bench configs/recipes/rag.yaml      # in another terminal
"""

import argparse
import contextlib
import csv
import json
import re
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from benchmarks.rule_batches import Batches
from harness.steps.search.field.entities import names_in
from harness.steps.search.rewrite.statement import statement_of
from harness.values import golden_parts, wording_pattern

ROOT = Path(__file__).parent.parent
QUERIES = ROOT / "configs" / "recipes" / "ten_k_queries.csv"
ALL_QUERIES = (
    QUERIES,
    ROOT / "configs" / "recipes" / "abilities_queries.csv",
    ROOT / "corpora" / "rgb_sample" / "queries.csv",
)
PROPOSED = "What is said of "
REFUSAL = "I cannot answer this from the passages."
NOTHING, NOTHING_ZH = "I cannot answer because of insufficient information.", "由于信息不足，无法回答该问题。"
# what a prompt shows stands between lines with a mark that no text can know
PART = re.compile(r"<(\w+)(?: (\d+))? (\w+)>\n(.*?)\n</\1(?: \2)? \3>", re.DOTALL)
WORD = re.compile(r"\w[\w,.']*\w|\w")
COMMON = set(
    re.findall(
        r"\w+",
        "a an and are as at by did do does for from has how in is it its of on or that the their to was were "
        "what when which who with",
    )
)


def content_words(text):
    """The words of a text that carry meaning, in lower case."""
    return [word for word in (found.lower() for found in WORD.findall(text)) if word not in COMMON]


def share(text, passages):
    """The share of the content words of ``text`` that stand in any of the passages."""
    words, there = content_words(text), {word for passage in passages for word in content_words(passage)}
    return sum(word in there for word in words) / len(words) if words else 0.0


def sentences(text):
    """The sentences and lines of a text."""
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n", text) if part.strip()]


class Rules:
    """Replies to prompts.

    ``golden`` maps a question to its golden answer, ``parts`` to the parts of one, and ``false`` to those
    of a false one.
    """

    def __init__(self, golden, parts, false):
        self._golden, self._parts, self._false = golden, parts, false

    @classmethod
    def of(cls, *paths):
        """The rules for the questions of query files.

        Where several files have a question, its golden answer is that of the first, and its parts are
        those of the last: the questions on abilities are those on a 10-K with the wordings of each part.
        """
        golden, parts, false = {}, {}, {}
        for path in paths:
            with path.open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            for row in rows:
                golden.setdefault(row["text"], row["answer"])
                parts[row["text"]] = golden_parts(row["answer"])
                false[row["text"]] = golden_parts(row.get("false_answer") or "")
        return cls(golden, parts, false)

    def reply(self, messages):
        """The text of a reply to the messages of a chat."""
        parts = {}
        for name, _, _, text in PART.findall(messages[-1]["content"]):
            parts.setdefault(name, []).append(text)
        question = parts.pop("query", parts.pop("question", [""]))[0]
        # what a prompt asks for stands behind all that it shows
        form = messages[-1]["content"].rsplit(">\n\n", 1)[-1]
        for mark, rule in FORMS.items():
            if mark in form:
                return json.dumps(rule(self, question, parts))
        for mark, rule in PLAIN_FORMS.items():
            if mark in form:
                return rule(question)
        if "insufficient information" in messages[0]["content"] or "信息不足" in messages[0]["content"]:
            return self.careful(question, parts["passage"], messages[0]["content"])
        return self.answer(question, parts["passage"], "square brackets" in messages[0]["content"])

    def careful(self, question, passages, prompt):
        """The parts of the golden answer that are read, in RGB's phrases; it sees false ones if warned."""
        text, chinese = "\n".join(passages), "信息不足" in prompt
        parts = self._parts.get(question, ())
        false = [part for part in self._false.get(question, ()) if wording_pattern(part).search(text)]
        if false and ("factual errors" in prompt or "事实性错误" in prompt):
            warned = (
                "提供的文档存在事实性错误。"
                if chinese
                else "There are factual errors in the provided documents. "
            )
            return warned + "; ".join(part[0] for part in parts)
        held = [part[0] for part in parts if wording_pattern(part).search(text)]
        held += [part[0] for part in false]
        if not held:
            return NOTHING_ZH if chinese else NOTHING
        return "; ".join(held)

    def found(self, question, passage):
        """The answer to a question as a passage holds it; None where it does not."""
        if question.startswith(PROPOSED):
            wanted = set(content_words(question.removeprefix(PROPOSED)))
            return next((one for one in sentences(passage) if wanted <= set(content_words(one))), None)
        golden = self._golden.get(question, "")
        # the first figure of the golden answer, or else its first words
        figure = re.search(r"\d[\d,.]*\d", golden)
        key = figure[0] if figure else golden.split(",")[0]
        return golden if key and key in passage and share(question, [passage]) >= ABOUT else None

    def answers(self, question, passage):
        """Whether a passage holds the answer."""
        return self.found(question, passage) is not None

    def answer(self, question, passages, cited):
        """The answer where a passage holds it, with the passage's number; else a refusal."""
        for number, passage in enumerate(passages, start=1):
            if answer := self.found(question, passage):
                return answer + (f" [{number}]" if cited else "")
        return REFUSAL

    def grade(self, question, parts, top=4):
        """The grade of a passage: ``top`` for the answer, 1 for the subject, else 0."""
        passages = parts["passage"]
        if any(self.answers(question, passage) for passage in passages):
            return {"grade": top}
        return {"grade": int(share(question, passages) >= ABOUT)}

    def scores(self, question, parts):
        """Distinct scores from 0, by how much of the question stands in a passage."""
        held = [(self.answers(question, one), share(question, [one])) for one in parts["passage"]]
        order = sorted(range(len(held)), key=held.__getitem__)
        return {"scores": [order.index(at) for at in range(len(held))]}

    def verdict(self, question, parts):
        """Whether a passage is useful, an answer meets an aspect (a figure, no harm), or it refuses."""
        if "passage" in parts:
            return {"verdict": int(self.answers(question, parts["passage"][0]))}
        answer = parts["answer"][0]
        if "aspect" not in parts:
            return {"verdict": int(answer == REFUSAL)}
        return {"verdict": int("harm" not in parts["aspect"][0] and bool(re.search(r"\d", answer)))}

    def verdicts(self, question, parts):
        """Whether the words of each statement stand in the passages, or a sentence holds the answer."""
        (listed,) = parts.get("statements") or parts["sentences"]
        lines = [line.split(". ", 1)[1] for line in listed.splitlines()]
        if "sentences" in parts:
            found = [self.answers(question, line) for line in lines]
        else:
            found = [share(line, parts["passage"]) >= SUPPORTED for line in lines]
        return {"verdicts": [{"number": n, "verdict": int(one)} for n, one in enumerate(found, start=1)]}

    def statements(self, question, parts):
        """An answer is one statement, a refusal none."""
        answer = parts["answer"][0]
        return {"statements": [] if answer == REFUSAL else [answer]}

    def attributed(self, question, parts):
        """The sentences of a golden answer, and whether their words stand in the passages."""
        stated = sentences(parts["reference"][0])
        verdicts = [share(one, parts["passage"]) >= SUPPORTED for one in stated]
        rows = zip(stated, map(int, verdicts), strict=True)
        return {"statements": [{"statement": text, "verdict": verdict} for text, verdict in rows]}

    def split(self, question, parts):
        """Every sentence of an answer as a statement; a refusal has none."""
        answer = parts["answer"][0]
        lines = [] if answer == REFUSAL else parts["sentences"][0].splitlines()
        return [
            {"sentence_index": at, "simpler_statements": [line.split(": ", 1)[1]]}
            for at, line in enumerate(lines)
        ]

    def explained(self, question, parts):
        """The verdicts of other rules with reasons, in the shapes of the recipe on tiers."""
        if "statements" not in parts and "reference" not in parts:
            verdict = self.verdict(question, parts)["verdict"]
            return {"result": verdict, "reason": f"It holds {'the' if verdict else 'no'} answer."}
        if "reference" in parts:
            rows = self.attributed(question, parts)["statements"]
            return [
                {"statement": row["statement"], "reason": REASONS[row["verdict"]], "result": row["verdict"]}
                for row in rows
            ]
        lines = [line.split(". ", 1)[1] for line in parts["statements"][0].splitlines()]
        rows = zip(lines, self.verdicts(question, parts)["verdicts"], strict=True)
        return [
            {"statement": line, "reason": REASONS[row["verdict"]], "verdict": row["verdict"]}
            for line, row in rows
        ]

    def question_back(self, question, parts):
        """A question that the answer might answer."""
        answer = parts["answer"][0]
        back = next((text for text, golden in self._golden.items() if golden and golden == answer), answer)
        return {"question": back, "noncommittal": int(answer == REFUSAL)}

    def entities(self, question, parts):
        """Words that begin with a capital letter, and figures."""
        return {"entities": sorted(set(re.findall(r"\b[A-Z]\w+|\d[\d,.]*\d", parts["text"][0])))[:MOST]}

    def proposal(self, question, parts):
        """A question about the longest sentence of the first passage, which it quotes."""
        quote = max(sentences(parts["passage"][0]), key=len)
        words = [word for word in WORD.findall(quote) if word.lower() not in COMMON][:4]
        return {"question": f"{PROPOSED}{' '.join(words)}?", "quotes": [quote]}


def as_statement(question):
    """A question as a statement by rules, or as it is."""
    return statement_of(question) or question


def names(text):
    """The names in a text by rules, one a line."""
    return "\n".join(names_in(text)[:FEW]) or "none"


def names_and_purpose(text):
    """The names in a text, and its first words for what it is for."""
    return "\n".join([*names_in(text)[:FEW], " ".join(text.split()[:FEW])])


ABOUT, SUPPORTED, MOST, FEW = 0.4, 0.6, 50, 8
REASONS = ("Most of its words are not in the context.", "Its words are in the context.")
# what a prompt shows of the form that it wants, and the rule that gives it
FORMS = {
    '"simpler_statements"': Rules.split,
    '"reason"': Rules.explained,
    '"quotes"': Rules.proposal,
    '"scores"': Rules.scores,
    '"grade": 0, 1 or 2': lambda rules, question, parts: rules.grade(question, parts, top=2),
    '"grade"': Rules.grade,
    '"statement"': Rules.attributed,
    '"statements"': Rules.statements,
    '"verdicts"': Rules.verdicts,
    '"verdict"': Rules.verdict,
    '"noncommittal"': Rules.question_back,
    '"entities"': Rules.entities,
}
# the same for replies in plain text
PLAIN_FORMS = {
    "with the statement": as_statement,
    "只输出这个陈述句": as_statement,
    "the line with the purpose": names_and_purpose,
    "最后一行写意图": names_and_purpose,
    "one name a line": names,
}


def choice(content):
    """The only choice of a completion."""
    message = {"role": "assistant", "content": content}
    return {"index": 0, "finish_reason": "stop", "message": message}


def usage(sent, received):
    """Tokens as words."""
    return {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}


def completion(rules, request):
    """The completion by rules to the body of a request."""
    content = rules.reply(request["messages"])
    words = sum(len(part["content"].split()) for part in request["messages"]), len(content.split())
    return {
        "id": "rules",
        "object": "chat.completion",
        "created": 0,
        "model": request["model"],
        "choices": [choice(content)],
        "usage": usage(*words),
    }


def server(port, rules):
    """A server for this machine alone; port 0 takes a free one."""
    batches = Batches(partial(completion, rules))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.path.endswith("/chat/completions"):
                self._send(completion(rules, json.loads(body)))
            else:
                self._send(batches.answer("POST", self.path, body))

        def do_GET(self):
            self._send(batches.answer("GET", self.path, b""))

        def _send(self, body):
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(404 if body is None else 200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            pass

    class Server(ThreadingHTTPServer):
        # with the 5 that are usual, some of the calls that come at once are cut off
        request_queue_size = 128

    return Server(("127.0.0.1", port), Handler)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8000, help="the port of the endpoint (default: 8000)")
    parser.add_argument(
        "--queries",
        type=Path,
        nargs="+",
        default=ALL_QUERIES,
        metavar="FILE",
        help="questions with golden answers (CSV); default: those of all recipes",
    )
    arguments = parser.parse_args()
    with server(arguments.port, Rules.of(*arguments.queries)) as serving:
        print(f"Answers by rules at http://localhost:{serving.server_port}/v1; ends with Ctrl+C.", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            serving.serve_forever()


if __name__ == "__main__":
    main()
