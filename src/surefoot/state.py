"""What a run is, and what happened in a round: immutable records."""

from typing import Any, NamedTuple

import numpy as np

from surefoot.parts import Array, Memory


class State(NamedTuple):
    """Everything a run is: keep it, pickle it, go on from it. Arrays are read-only.

    t: the round to come, from 1. samples: those seen so far. h: the ancillary iterate h_t. hbar: the main iterate, to
    be reported. weight_ratio: alpha_{1:t} / alpha_t. before: the last query point. carried: the estimate D.
    memory: the learner's, the feedback's, the estimate's.
    """

    t: int
    samples: float
    h: Array
    hbar: Array
    weight_ratio: float
    before: Array
    carried: Array
    memory: tuple[Memory, Memory, Memory]

    def __reduce__(self) -> tuple[Any, ...]:
        return sealed_state, tuple(self)


class Info(NamedTuple):
    """What happened in a round; with m samples, the first three and the factor are arrays of m.

    distance: the size judged. threshold: the clip line. action: "kept", "clipped" or "replaced". processed: what the
    learner was given. factor: the weight w of the feedback. share: the share b of this round in `processed`.
    """

    distance: Any
    threshold: Any
    action: Any
    processed: Array
    factor: Any
    share: float


def sealed_state(*fields: Any) -> State:
    """Return the state of these fields with every array in it read-only."""
    seal(fields)
    return State(*fields)


def seal(value: Any) -> None:
    """Make every array in nested tuples read-only."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, tuple):
        for part in value:
            seal(part)
