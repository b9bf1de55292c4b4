"""Random numbers that no seed determines."""

from __future__ import annotations

from collections.abc import Iterator

from repropack._lint.code import Call, Module, is_literal
from repropack._lint.subject import found
from repropack.models.lint import LintFinding

_RANDOM = "random"
_NUMPY = "numpy.random"
_TORCH = "torch"
_RANDOM_DRAWS = """
random randint randrange randbytes getrandbits choice choices shuffle sample uniform triangular
betavariate expovariate gammavariate gauss lognormvariate normalvariate vonmisesvariate
paretovariate weibullvariate binomialvariate
"""
_NUMPY_DRAWS = """
rand randn randint random_integers random_sample random ranf sample choice bytes shuffle permutation
beta binomial chisquare dirichlet exponential f gamma geometric gumbel hypergeometric laplace
logistic lognormal logseries multinomial multivariate_normal negative_binomial normal pareto poisson
power rayleigh standard_cauchy standard_gamma standard_exponential standard_normal standard_t
triangular uniform vonmises wald weibull zipf
"""
_TORCH_DRAWS = """
rand randn randint randperm rand_like randn_like randint_like normal bernoulli multinomial poisson
nn.Linear nn.Bilinear nn.Embedding nn.LSTM nn.GRU nn.RNN nn.Conv1d nn.Conv2d nn.Conv3d
nn.ConvTranspose1d nn.ConvTranspose2d nn.Dropout nn.Transformer nn.MultiheadAttention
nn.TransformerEncoderLayer nn.init.normal_ nn.init.uniform_ nn.init.xavier_uniform_
nn.init.xavier_normal_ nn.init.kaiming_uniform_ nn.init.kaiming_normal_ nn.init.trunc_normal_
nn.init.orthogonal_
"""
_DRAWS = {
    _RANDOM: frozenset(_RANDOM_DRAWS.split()),
    _NUMPY: frozenset(_NUMPY_DRAWS.split()),
    _TORCH: frozenset(_TORCH_DRAWS.split()),
}
_SEEDS = {"random.seed": _RANDOM, "numpy.random.seed": _NUMPY, "torch.manual_seed": _TORCH}
_SEED_ALL = ("set_seed", "set_all_seeds", "seed_everything", "seed_all")
_OWN_GENERATORS = {
    "random.Random": _RANDOM,
    **{
        f"numpy.random.{name}": _NUMPY
        for name in (
            "default_rng", "RandomState", "SeedSequence", "PCG64", "PCG64DXSM", "MT19937",
            "Philox", "SFC64",
        )
    },
}  # fmt: skip


def check_seeds(modules: tuple[Module, ...]) -> Iterator[LintFinding]:
    """Find, for each library and file, the first draw that nothing seeds.

    A seed that is set anywhere in the source counts for the whole of it.

    Args:
        modules: The parsed source.

    Yields:
        A finding for each.
    """
    own = tuple(module for module in modules if not module.is_test)
    seeded = {library for module in own for call in module.calls for library in _seeded_by(call)}
    for module in own:
        told: set[str] = set()
        for call in sorted(module.calls, key=lambda one: one.line):
            library = _unseeded(call, seeded)
            if library is not None and library not in told:
                told.add(library)
                problem = f"{call.name}() draws from {library} without a seed"
                yield found("seed-not-set", module.file.path, problem, call.line)


def _seeded_by(call: Call) -> tuple[str, ...]:
    if call.name in _SEEDS:
        seed = call.argument(0, {"random.seed": "a"}.get(call.name, "seed"))
        return () if seed is None or is_literal(seed, None) else (_SEEDS[call.name],)
    return tuple(_DRAWS) if call.name.rpartition(".")[2] in _SEED_ALL else ()


def _unseeded(call: Call, seeded: set[str]) -> str | None:
    """The library from which a call draws what no seed determines, or ``None``."""
    if call.name in _OWN_GENERATORS:
        given = call.node.args or call.node.keywords
        alone = not given or (len(call.node.args) == 1 and is_literal(call.node.args[0], None))
        return _OWN_GENERATORS[call.name] if alone else None
    for library, draws in _DRAWS.items():
        name = call.name.removeprefix(f"{library}.")
        if name != call.name and name in draws and library not in seeded:
            named = any(row.arg == "generator" for row in call.node.keywords)
            return None if named else library
    return None
