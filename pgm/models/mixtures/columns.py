"""The emission of a mixture for some columns: continuous ones jointly normal, discrete ones categorical."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pgm.distributions import Categorical, Emission, Gaussian, Product
from pgm.errors import InvalidFrame
from pgm.frames.undeclared import observations


def emission_of(
    frame: Any,
    *,
    form: str = "full",
    states: Mapping[str, Any] | None = None,
    continuous: str | Iterable[str] = (),
) -> Emission:
    """The emission of a mixture over these columns, its parameters yet to be learned.

    Args:
        frame: the rows.
        form: of the covariances of the continuous columns.
        states: {column: its states}, where the data should not decide.
        continuous: columns to treat as continuous although they could be discrete.

    >>> emission_of({"mm": [0.5, 1.25], "rain": ["no", "yes"]}).names
    (('mm',), ('rain',))
    """
    found = observations(frame, states=states, continuous=continuous).variables
    real = tuple([name for name, v in found.items() if v.continuous])
    parts: dict[Any, Emission] = {}
    for name, variable in found.items():
        if not variable.continuous:
            parts[name] = Categorical(symbols=list(variable.states))
        elif name == real[0]:
            one = len(real) == 1
            parts[name if one else real] = Gaussian(form=form) if one else Gaussian(dim=len(real), form=form)
    if not parts:
        raise InvalidFrame("The frame has no columns: there is nothing to learn from.")
    return Product(parts)
