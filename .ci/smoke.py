"""Asks an installation of pgm: is it the installed one, are its loops compiled, are a few answers right?"""

import json
import pathlib
import subprocess
import sys

import pgm

assert "site-packages" in pgm.__file__, pgm.__file__
assert (pathlib.Path(pgm.__file__).parent / "py.typed").exists()

facts = json.loads(subprocess.run(["pgm", "info", "--json"], capture_output=True, check=True).stdout)
wanted = sys.argv[1] if len(sys.argv) > 1 else "compiled"
assert facts["loops"]["form"] == wanted, facts
assert (facts["loops"]["reason"] == "") == (wanted == "compiled"), facts

# Lauritzen and Spiegelhalter (1988): P(lung cancer | a positive X-ray), and before any finding.
asia = pgm.load_network("asia")
assert round(asia.query("lung", {"xray": "yes"})["yes"], 4) == 0.4887
assert round(asia.query("lung")["yes"], 4) == 0.055

# 2**10 configurations, summed here: the engine's numbers are no others.
net = pgm.BayesianNetwork()
net.add("x0", 0.3)
for i in range(1, 10):
    net.add(f"x{i}", {True: 0.9, False: 0.2}, parents=[f"x{i - 1}"])
p = 0.3
for _ in range(9):
    p = 0.9 * p + 0.2 * (1 - p)
assert abs(net.query("x9")[True] - p) < 1e-14

assert net.map({"x9": True})["x8"] is True
assert len(net.sample(100, seed=1)["x5"]) == 100
net.marginals({"x0": True}, engine="loopy")
sys.stdout.write(f"{facts['loops']}\n")
