"""Whether a step of the user's own keeps the contract: tried on small texts, one sentence a check."""
