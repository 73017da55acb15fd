"""What asking an endpoint would take, before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServedEstimate:
    """``items`` of which ``known`` are kept; for the others ``calls`` requests of about ``tokens`` tokens.

    ``noun`` says what items are; ``price`` None: no price is known. ``about``: a guess, since what is asked
    depends on what is found before.
    """

    items: int
    known: int
    calls: int
    tokens: int
    price: float | None
    noun: str
    about: bool = False

    def __str__(self) -> str:
        said = f"{'about ' if self.about else ''}{self.items:,} {self.noun}: {self.calls:,} requests to make"
        said += f", {self.known:,} {self.noun} kept from before"
        if not self.calls:
            return f"{said}; nothing to pay"
        price = "price unknown: set endpoint.price" if self.price is None else f"price about {self.price:.4f}"
        return f"{said}; about {self.tokens:,} tokens to send; {price}"
