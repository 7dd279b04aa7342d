"""Diagnostics of estimates from samples: R-hat, effective sample size, intervals.

After Vehtari, Gelman, Simpson, Carpenter & Buerkner (2021), without their rank normalisation: samples are
states.
"""

from __future__ import annotations

import numpy as np

from pgm.results import NORMAL_95


def split(chains: np.ndarray) -> np.ndarray:
    """Each chain split into its first and second half: (..., chains, draws) as (..., 2 chains, draws / 2)."""
    half = chains.shape[-1] // 2
    return np.concatenate([chains[..., :half], chains[..., -half:]], axis=-2)


def r_hat(chains: np.ndarray) -> np.ndarray:
    """R-hat, the spread of all draws relative to that within chains: near 1 once chains forget their start.

    Args:
        chains: values, (..., chains, draws); each chain is split, so that drift shows too.

    >>> float(r_hat(np.array([[0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]])).round(6))
    0.707107
    """
    halves = split(chains)
    n = halves.shape[-1]
    between = halves.mean(-1).var(-1, ddof=1)  # not multiplied by n here, so not divided by it below
    within = halves.var(-1, ddof=1).mean(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.sqrt(between / within + (n - 1) / n)
    return np.asarray(np.where(within > 0.0, found, np.where(between > 0.0, np.inf, 1.0)))


def effective_sample_size(chains: np.ndarray) -> np.ndarray:
    """How many independent draws would estimate the mean as well: Geyer's monotone sequence, chains split.

    Args:
        chains: values, (..., chains, draws). If no value ever changes, the answer is NaN.
    """
    halves = split(chains).astype(np.float64)
    m, n = halves.shape[-2:]
    centred = halves - halves.mean(-1, keepdims=True)
    length = 1 << (2 * n - 1).bit_length()
    waves = np.fft.rfft(centred, length)
    power = (waves.real**2 + waves.imag**2).mean(-2)
    covariance = np.fft.irfft(power, length)[..., :n] / n  # mean over the chains
    within = covariance[..., :1] * n / (n - 1.0)
    both = within * (n - 1.0) / n
    if m > 1:
        both = both + halves.mean(-1).var(-1, ddof=1)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - (within - covariance) / both
    rho[..., 0] = 1.0
    n_pairs = max(1, (n - 1) // 2)
    even, odd = rho[..., 0 : 2 * n_pairs : 2], rho[..., 1 : 2 * n_pairs : 2]
    pairs = even + odd
    negative = ~(pairs > 0.0)
    negative[..., -1] = True  # the last pair ends the sum at the latest
    end = negative.argmax(-1)[..., None]
    falling = np.minimum.accumulate(pairs, axis=-1)
    before = np.arange(n_pairs) < end
    last = np.maximum(np.take_along_axis(even, end, -1)[..., 0], 0.0)
    tau = -1.0 + 2.0 * np.where(before, falling, 0.0).sum(-1) + last
    size = float(m * n)
    tau = np.maximum(tau, 1.0 / np.log10(size))  # a limit on the credible gain over independent draws
    return np.asarray(np.where(both[..., 0] > 0.0, size / tau, np.nan))


def share_interval(p: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's 95 % interval of a probability, observed as the share p of this many independent cases.

    Unlike p plus and minus two standard errors it has a positive width if p is 0 or 1.
    """
    z2 = NORMAL_95**2
    centre = (p + z2 / (2.0 * sizes)) / (1.0 + z2 / sizes)
    half = NORMAL_95 / (1.0 + z2 / sizes) * np.sqrt(p * (1.0 - p) / sizes + z2 / (4.0 * sizes**2))
    return np.maximum(np.minimum(centre - half, p), 0.0), np.minimum(np.maximum(centre + half, p), 1.0)
