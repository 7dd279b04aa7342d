"""What `import pgm` offers, and what it leaves for later."""

import subprocess
import sys

import pgm
from pgm import graphs


def test_files_are_left_for_later():
    code = "import sys, pgm; print('pgm.io' in sys.modules, 'pgm.plot' in sys.modules, callable(pgm.read))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True"]


def test_a_question_needs_no_networkx():
    code = (
        "import sys, pgm; net = pgm.load_network('asia'); net.marginals({'asia': 'no'});"
        "print('networkx' in sys.modules, net.moral_graph().number_of_edges(), 'networkx' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "10", "True"]


def test_what_graphs_offers_is_there():
    for name in graphs.__all__:
        assert getattr(graphs, name) is not None
    assert not hasattr(graphs, "no_such_name")


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
