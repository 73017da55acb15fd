"""Whether a user-defined step keeps the contract: tried on small texts, one sentence per check."""
