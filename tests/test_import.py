"""What `import pgm` offers, and what it leaves for later."""

import subprocess
import sys

import pgm


def test_files_are_left_for_later():
    code = "import sys, pgm; print('pgm.io' in sys.modules, 'pgm.plot' in sys.modules, callable(pgm.read))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True"]


def test_every_name_is_there():
    assert len(set(pgm.__all__)) == len(pgm.__all__)
    for name in pgm.__all__:
        assert getattr(pgm, name) is not None
        assert name in dir(pgm)
    assert isinstance(pgm.__version__, str)
    assert not hasattr(pgm, "no_such_name")
    assert issubclass(pgm.InvalidTable, pgm.PGMError)
    with pgm.config(memory_limit="1 GB"):  # the class, not the module of that name
        pass


def test_questions_about_states_visit_no_room_of_continuous_variables():
    code = """
import sys, pgm
net = pgm.load_network("asia")
net.query("lung"), net.marginals(), net.map(), net.sample(3), net.plan(), net.expected_counts()
net.probability({"lung": "yes"}, given={"smoke": "no"})
net.predict({"smoke": ["yes", "no"]}, "lung"), net.log_likelihood({"smoke": ["yes", "no"]})
rooms = ("pgm.inference.engines.gaussian.", "pgm.inference.asking.continuous")
print([name for name in sys.modules if name.startswith(rooms)])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_network_needs_networkx_until_a_graph_is_made_or_brought():
    code = """
import sys, pgm
net = pgm.load_network("asia")
net.add("late", 0.1)
net.marginals(), net.map(), net.sample(3), net.plan(), net.ancestors("lung")
pgm.BayesianNetwork(edges="a -> b").fit({"a": [0, 1], "b": [1, 0]})
print("networkx" in sys.modules, net.to_networkx().number_of_nodes(), "networkx" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "9", "True"]
