"""In how many ways can the Petersen graph be coloured so that neighbours differ? Zeros and ones count."""

import networkx as nx

import pgm

graph = nx.petersen_graph()
for n_colours in (2, 3, 4):
    model = pgm.MarkovNetwork()
    for node in graph:
        model.add_variable(f"n{node}", states=list(range(n_colours)))
    differ = [[float(a != b) for b in range(n_colours)] for a in range(n_colours)]
    for a, b in graph.edges:
        model.add_factor([f"n{a}", f"n{b}"], differ)
    ways = model.partition(engine="search")
    print(f"{n_colours} colours: {ways:,.0f} ways")
    assert ways == {2: 0, 3: 120, 4: 12960}[n_colours]
    if ways:
        same = model.query(["n0", "n7"])  # two nodes without an edge
        print(f"  two that do not touch are alike in {sum(same[c, c] for c in range(n_colours)):.1%} of them")
