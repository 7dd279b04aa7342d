"""In how many ways can the Petersen graph be coloured so that neighbours differ? Zeros and ones count."""

import matplotlib.pyplot as plt
import networkx as nx

import pgm

graph = nx.petersen_graph()
place = nx.shell_layout(graph, [range(5, 10), range(5)])
figure, axes = plt.subplots(1, 3, figsize=(8, 2.9), layout="constrained")
for ax, n_colours in zip(axes, (2, 3, 4), strict=True):
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
    some = model.map(engine="exact") if ways else None  # one colouring
    paint = ["#0072b2", "#e69f00", "#009e73", "#cc79a7"]
    colours = "white" if some is None else [paint[some[f"n{node}"]] for node in graph]
    nx.draw_networkx(
        graph, place, ax=ax, with_labels=False, node_color=colours, edgecolors="black", node_size=160
    )
    ax.set_title(f"{n_colours} colours: {ways:,.0f} ways", fontsize=10)
    ax.set_axis_off()

figure.savefig("count_colourings.png")
print("One colouring of each kind is in count_colourings.png")
