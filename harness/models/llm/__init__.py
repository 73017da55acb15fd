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

One path leads through it. ``ask`` (asking.py) begins a ``RequestRun`` (requests.py), which looks up each
call, has the ``Turn`` while it buys what the ledger lacks, keeps to the ``Budget`` and hands on what is
answered. A ``Transport`` brings the answers of an endpoint: ``CallTransport`` by calls now,
``BatchTransport`` by batches later. A ``Sender`` makes the tries of a request within rate, money and breaker,
and hands each out as an ``Attempt``; requests for vectors and scores, and those about batches, take the same.
The ``Recorder`` reads each reply and writes it to the ledger before anything uses it. Beneath is one
connection (http_client.py), whose rules hold for the package openai too.
"""
