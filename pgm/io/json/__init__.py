"""The JSON of pgm: every model in full, to the last bit; the schemas in docs/schema describe it.

    {"pgm": 1, "name": "wet", "nodes": [{"name": "rain", "states": ["no", "yes"], "table": [[0.8, 0.2]]}]}

"pgm" is the version of the format. A Bayesian network has "nodes", a Markov network has "variables" and
"factors", a Markov chain "markov-chain", a hidden Markov model "hmm", a linear dynamical system
"linear-dynamical-system", several that take turns "switching-linear-dynamical-system"; in version 2
(docs/schema/pgm-2.json) a dynamic network "dynamic-network", an influence diagram "influence-diagram", a
policy "policy", a mixture "mixture", a causal graph "causal-graph", a prior "prior", a classifier
"classifier" and one of sequences "hmm-classifier"; a network that was fitted with a prior has "learned".
"about" says where a file comes from; it is for people, and not part of the model.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pgm.distributions.parts import Part
from pgm.errors import InvalidArgument, shown
from pgm.io.text import Text
from pgm.models import BayesianNetwork, MarkovNetwork

from .factors import read_factors, write_factors, write_variables
from .formatting import encode, escaped, lay_out
from .learned import take_learned, write_learned
from .networks import read_network, write_network
from .parts import parse

if TYPE_CHECKING:
    from pgm.distributions.pseudo_counts import Prior
    from pgm.models.causal.graph import CausalGraph
    from pgm.models.classifiers.row_classifier import RowClassifier
    from pgm.models.decision import InfluenceDiagram, Policy
    from pgm.models.dynamic import HMM, LinearDynamicalSystem, MarkovChain, SwitchingLinearDynamicalSystem
    from pgm.models.dynamic.dynamic_bayesian_network import DynamicBayesianNetwork
    from pgm.models.dynamic.hidden import HiddenChain
    from pgm.models.dynamic.hmm_classifier import HMMClassifier
    from pgm.models.mixtures import Mixture

    Model: TypeAlias = (
        BayesianNetwork
        | MarkovNetwork
        | HMM
        | HiddenChain
        | MarkovChain
        | SwitchingLinearDynamicalSystem
        | LinearDynamicalSystem
        | DynamicBayesianNetwork
        | InfluenceDiagram
        | Policy
        | Mixture
        | CausalGraph
        | Prior
        | RowClassifier
        | HMMClassifier
    )

VERSION = 2  # FORMS marks what only 2 has; 1 is written for everything else


class Form(NamedTuple):
    """The models of a class, and the module of this folder that reads and writes them.

    That module has two functions, and is loaded when one of them is wanted:

        read(part: Part) -> Model                   of the whole file
        write(model) -> Any                         the value of the key
    """

    kind: str  # the class, after the name of its module
    module: str
    version: int = 1  # the first that has it
    expands: bool = False  # whether `write` takes expand=

    def functions(self) -> Any:
        """The module with `read` and `write`."""
        return import_module(f"{__name__}.{self.module}")


_DYNAMIC = "pgm.models.dynamic"
# Models over time and decisions: each has a key of its own in its file.
FORMS = {
    "hmm": Form(f"{_DYNAMIC}.hmm.HMM", "hmm"),
    "hidden-chains": Form(f"{_DYNAMIC}.hidden.HiddenChain", "hidden_chains"),
    "markov-chain": Form(f"{_DYNAMIC}.markov_chain.MarkovChain", "markov_chains"),
    "switching-linear-dynamical-system": Form(
        f"{_DYNAMIC}.switching_linear_dynamical_system.SwitchingLinearDynamicalSystem", "switching_systems"
    ),
    "linear-dynamical-system": Form(
        f"{_DYNAMIC}.linear_dynamical_system.LinearDynamicalSystem", "linear_systems"
    ),
    "dynamic-network": Form(
        f"{_DYNAMIC}.dynamic_bayesian_network.DynamicBayesianNetwork", "dynamic_networks", version=2
    ),
    "mixture": Form("pgm.models.mixtures.mixture.Mixture", "mixtures", version=2),
    "prior": Form("pgm.distributions.pseudo_counts.Prior", "priors", version=2),
    "classifier": Form("pgm.models.classifiers.row_classifier.RowClassifier", "classifiers", version=2),
    "hmm-classifier": Form(f"{_DYNAMIC}.hmm_classifier.HMMClassifier", "hmm_classifiers", version=2),
    "influence-diagram": Form(
        "pgm.models.decision.influence_diagram.InfluenceDiagram", "diagrams", version=2, expands=True
    ),
    "policy": Form("pgm.models.decision.policy.Policy", "policies", version=2, expands=True),
    "causal-graph": Form("pgm.models.causal.graph.CausalGraph", "causal_graphs", version=2),
}
_FUNCTIONS = f"{_DYNAMIC}.nonlinear_dynamical_system.NonlinearDynamicalSystem"  # which no file holds


def read(text: Text) -> Model:
    """Read a model; a file of a version that is newer than this program is refused."""
    return model_of(parse(text))


def model_of(part: Part) -> Model:
    """Return the model of a file."""
    if type(part.value) is not dict or "pgm" not in part.value:
        part.fail('this is not a model of pgm, which is an object that begins {"pgm": 1, ...')
    version = part.at("pgm").whole("the version of the format", 1)
    if version > VERSION:
        part.fail(
            f"this file is of version {shown(version)} of the format, and this program reads version "
            f"{VERSION}: a newer pgm reads it",
            "pgm",
        )
    for key, form in FORMS.items():
        if key in part.value:
            if version < form.version:
                part.fail(f'"{key}" is of version {form.version} of the format', "pgm")
            found: Model = form.functions().read(part)
            return found
    bayesian = "nodes" in part.value or "factors" not in part.value
    bodies = ["nodes"] if bayesian else ["variables", "factors"]
    value = part.members("a network", ["pgm", *bodies], ["name", "about", *(["learned"] if bayesian else [])])
    for key in ("name", "about"):
        if key in value:
            part.at(key).text("a text")
    name = value.get("name", "")
    if bayesian:
        net = read_network(part.at("nodes"), name)
        if "learned" in value:
            if version < VERSION:
                part.fail(f'"learned" is of version {VERSION} of the format', "pgm")
            take_learned(net, part.at("learned"))
        return net
    return read_factors(part.at("variables"), part.at("factors"), name)


def write(model: Model, *, expand: bool, about: str = "") -> str:
    """Return the file; `expand` writes tables in place of what has no JSON form."""
    kinds = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(model).__mro__}
    if _FUNCTIONS in kinds:
        raise InvalidArgument(
            "A nonlinear dynamical system is made of functions, which no file holds: keep the program that "
            "makes it, and in a file the values that go into it. pickle keeps one of functions of a module."
        )
    key = next((key for key, form in FORMS.items() if form.kind in kinds), "")
    head: dict[str, Any] = {"pgm": FORMS[key].version if key else 1}
    if not key and not isinstance(model, BayesianNetwork | MarkovNetwork):
        raise InvalidArgument(
            "JSON holds networks, dynamic ones too, influence diagrams, mixtures, classifiers, priors, "
            f"causal graphs, Markov chains, hidden Markov models and linear dynamical systems, not "
            f"{shown(model)}."
        )
    if name := getattr(model, "name", ""):
        head["name"] = name
    if about:
        head["about"] = about
    if key:
        options = {"expand": expand} if FORMS[key].expands else {}
        return escaped(lay_out(head | {key: FORMS[key].functions().write(model, **options)}) + "\n")
    learned = None
    if isinstance(model, BayesianNetwork):
        body: dict[str, Any] = {"nodes": write_network(model, expand=expand)}
        if (learned := write_learned(model)) is not None:
            head["pgm"] = VERSION
    else:
        assert isinstance(model, MarkovNetwork)
        body = {"variables": write_variables(model), "factors": write_factors(model, expand=expand)}
    members = [f"  {encode(key)}: {encode(value)}" for key, value in head.items()]
    for key, entries in body.items():
        lines = ",\n".join([f"    {lay_out(entry, 4)}" for entry in entries])
        members.append(f"  {encode(key)}: [\n{lines}\n  ]" if entries else f"  {encode(key)}: []")
    if learned is not None:
        members.append(f"  {encode('learned')}: {lay_out(learned, 2)}")
    return escaped("{\n" + ",\n".join(members) + "\n}\n")
