"""Medical diagnosis: why is the patient short of breath? The clinic of Lauritzen and Spiegelhalter (1988)."""

import pgm

net = pgm.BayesianNetwork("chest clinic")
net.add("asia", 0.01)  # a visit to Asia
net.add("smoke", 0.5)
net.add("tub", {True: 0.05, False: 0.01}, parents=["asia"])
net.add("lung", {True: 0.10, False: 0.01}, parents=["smoke"])
net.add("bronc", {True: 0.60, False: 0.30}, parents=["smoke"])
net.add("either", pgm.Deterministic(lambda tub, lung: tub or lung), parents=["tub", "lung"])
net.add("xray", {True: 0.98, False: 0.05}, parents=["either"])
net.add(
    "dysp",  # shortness of breath
    {(True, True): 0.9, (True, False): 0.8, (False, True): 0.7, (False, False): 0.1},
    parents=["bronc", "either"],
)

diseases = ["tub", "lung", "bronc"]
visits = {
    "nothing known": {},
    "short of breath": {"dysp": True},
    "... and smokes": {"dysp": True, "smoke": True},
    "... x-ray is dark": {"dysp": True, "smoke": True, "xray": True},
    "... was in Asia": {"dysp": True, "smoke": True, "xray": True, "asia": True},
}
print(f"{'':18}", *(f"{name:>8}" for name in diseases))
for said, given in visits.items():
    p = net.marginals(given, targets=diseases)
    print(f"{said:18}", *(f"{p[name][True]:8.4f}" for name in diseases))

# A hazy film is soft evidence: ten times as likely with something on the lungs, but not a certainty.
hazy = {"dysp": True, "smoke": True, "xray": pgm.Likelihood({True: 0.5, False: 0.05})}
print(f"{'... x-ray is hazy':18}", *(f"{net.query(name, hazy)[True]:8.4f}" for name in diseases))

# 'either' follows from 'tub' and 'lung': evidence that contradicts this raises an error.
try:
    net.query("dysp", {"either": True, "tub": False, "lung": False})
except pgm.ImpossibleEvidence as error:
    print(f"\n{error}")

ax = net.plot(given=visits["... x-ray is dark"])
ax.figure.savefig("asia.png")
print("\nThe network after the x-ray is in asia.png")
