"""Which proteins signal to which? The network of Sachs et al. (2005), found again from cells."""

import pgm

truth = pgm.load_network("sachs")
cells = truth.sample(5400, seed=1)  # as many as were measured, drawn from the network they published

for search in ("hill-climb", "tabu", "ges", "boss", "exact"):
    found = pgm.learn_structure(cells, search=search)
    away = pgm.compare(found.network, truth)
    proved = "no network scores higher" if found.exact else ""
    print(f"{search:12} BIC {found.score:12,.1f}   {away.shd_cpdag:2} from the truth   {proved}")
print(f"{'the truth':12} BIC {pgm.structure_score(truth, cells):12,.1f}")

# Data cannot direct every arrow. What is known can: PKC and PKA are upstream, so they come first.
told = pgm.learn_structure(
    cells,
    search="boss",
    tiers=[["PKC", "PKA"], [n for n in truth if n not in ("PKC", "PKA")]],
    bootstrap=50,
    seed=0,
)
print(f"\n{pgm.compare(told.network, truth)}\n")
print("The least certain arrows:")
for (a, b), share in sorted(told.confidence.items(), key=lambda item: abs(item[1] - 0.5))[:3]:
    print(f"  {a} -> {b} in {share:.0%} of 50 samples of the cells")

ax = told.plot(title="Signals between proteins, as wide as they are sure")
ax.figure.savefig("sachs.png")
print("\nThe network is in sachs.png")
