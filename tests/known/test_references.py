"""All of shared/networks against posteriors that pyAgrum gave (`make_references.py` says how): 1e-9."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pgm

NETWORKS = Path(__file__).resolve().parents[3] / "shared" / "networks"
REFERENCES = sorted(Path(__file__).with_name("references").glob("*.npz"))

pytestmark = pytest.mark.skipif(not NETWORKS.is_dir(), reason="the networks of shared/ are not here")


def questions(path: Path, net: pgm.BayesianNetwork):
    """Each evidence set with log P(evidence) and {name: posterior}."""
    with np.load(path) as file:
        stored = {key: file[key] for key in file.files}
    names = stored["names"].tolist()
    seen = wanted = values = 0
    for n_seen, n_wanted, log_p in zip(
        stored["n_observed"], stored["n_wanted"], stored["log_p"], strict=True
    ):
        variables = stored["observed"][seen : seen + n_seen].tolist()
        codes = stored["states"][seen : seen + n_seen].tolist()
        given = {names[v]: net.variables[names[v]].states[c] for v, c in zip(variables, codes, strict=True)}
        posteriors = {}
        for v in stored["wanted"][wanted : wanted + n_wanted].tolist():
            card = len(net.variables[names[v]].states)
            posteriors[names[v]] = stored["posteriors"][values : values + card]
            values += card
        yield given, float(log_p), posteriors
        seen, wanted = seen + n_seen, wanted + n_wanted


def test_every_network_has_references():
    assert {p.stem for p in REFERENCES} == {p.name.removesuffix(".bif.gz") for p in NETWORKS.glob("*.bif.gz")}


@pytest.mark.parametrize("path", REFERENCES, ids=lambda p: p.stem)
def test_all_posteriors_agree_with_pyagrum(path):
    net = pgm.read(NETWORKS / f"{path.stem}.bif.gz")
    sets = list(questions(path, net))
    assert len(sets) == 20
    for given, log_p, posteriors in sets:
        found = net.marginals(given)
        assert found.exact
        assert set(found) == set(posteriors)
        for name, expected in posteriors.items():
            np.testing.assert_allclose(found[name].values, expected, rtol=0, atol=1e-9, err_msg=name)
        if not np.isnan(log_p):
            assert net.log_probability(given) == pytest.approx(log_p, abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("engine", ["exact", "elimination"])
@pytest.mark.parametrize("path", REFERENCES, ids=lambda p: p.stem)
def test_one_target_at_a_time_agrees_with_pyagrum(path, engine):
    net = pgm.read(NETWORKS / f"{path.stem}.bif.gz")
    rng = np.random.default_rng(0)
    for given, _, posteriors in list(questions(path, net))[::5]:
        for name in rng.choice(sorted(posteriors), size=min(3, len(posteriors)), replace=False):
            found = net.query(str(name), given, engine=engine)
            np.testing.assert_allclose(found.values, posteriors[name], rtol=0, atol=1e-9, err_msg=name)
