"""Ask a language model through the ledger: prompts in, answers out, within limits of rate and money."""
