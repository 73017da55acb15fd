"""A reply of an endpoint → grades, or the reason why it holds none."""

from __future__ import annotations

from harness.judge.parsing import Malformed
from harness.judge.prompting import Prompt, read_grades
from harness.llm.client import Reply

# Asking again would bring the same: the endpoint has decided.
FINAL_REASONS = {"refusal", "content_filter"}

# How servers of the chat-completions protocol say why an answer has ended, in lower case. Some say nothing.
ENDED_BY_ITSELF = {"", "stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete"}
_AT_THE_LIMIT = {"length", "max_tokens", "model_length", "max_output_tokens"}
_FILTERED = {"content_filter", "sensitive", "safety"}


def read_reply(prompt: Prompt, reply: Reply, count: int) -> tuple[int, ...] | Malformed:
    """The grades of the ``count`` passages shown, in the order shown, or what is wrong with the reply.

    An answer that did not end by itself is not scored, whatever can be read from it: what was cut off may
    have been the answer, and what stands before it a thought or a quotation.
    """
    finish = reply.finish.lower()
    if finish in _FILTERED:
        return Malformed("content_filter")
    if reply.refusal:
        return Malformed("refusal")
    if finish == "no_choices":
        return Malformed("empty_choices")
    if finish in _AT_THE_LIMIT:
        return Malformed("truncated")
    if finish not in ENDED_BY_ITSELF:
        return Malformed("interrupted")
    if not reply.text.strip():
        return Malformed("empty_answer")
    return read_grades(prompt, reply.text, count)
