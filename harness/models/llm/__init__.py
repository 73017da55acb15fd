"""Ask a language model for any purpose: through the ledger, within limits, with the price known before.

    with Ledger(path) as ledger:
        model = Model(config, TextForm(system="", user="Rewrite this question: {{ query }}"), ledger)
        calls = [model.call(query) for query in queries]
        print(model.estimate(jobs_of(calls)))          # a dry run: what it would cost; nothing is asked
        found, spending = answers(model, calls, reporter=reporter)
        texts = [text_of(answer) for answer in found]  # None if there is no usable answer

An answer that is in the ledger is never bought again, whichever step asks. Limits of rate and money, retries
and the breaker are those of ``ModelConfig``. An answer that cannot be used has a ``reason`` and never becomes
something else. A ``Form`` of its own words prompts and reads answers otherwise; the judge's is an example.
"""

from harness.models.llm.batches.lines import came_in_batch
from harness.models.llm.config import ModelConfig
from harness.models.llm.endpoint import Endpoint
from harness.models.llm.form import Form, Malformed, TextForm, after_thoughts, json_in, text_of
from harness.models.llm.model import Model, jobs_of
from harness.models.llm.records import Spending
from harness.models.llm.run import answers
