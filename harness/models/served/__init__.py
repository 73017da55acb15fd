"""Models behind HTTP that turn texts into numbers: vectors and relevance scores, each paid for once.

An endpoint is a kind of model of its own. It has a name, a price and limits, and no files: making one loads
nothing and sends nothing, so that a plan can count what is missing and say what it would cost. Requests are
sent by ``fetch`` alone. A reply that is not whole, finite and of the right shape is an error, never a vector
or a score of zero.
"""
