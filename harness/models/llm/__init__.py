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
