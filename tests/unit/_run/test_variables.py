"""A worker's environment is complete, minimal and free of what its caller would not share."""

from __future__ import annotations

import pytest

from repropack._run.variables import (
    FIXED_VARIABLES,
    HIDDEN_VALUE,
    NUMERIC_VARIABLES,
    STARTING_VARIABLES,
    numeric_variables,
    worker_environment,
)

FIXED = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "TZ": "UTC",
}
SECRET_WORDS = ("API", "AUTH", "AWS", "CREDENTIAL", "KEY", "PASS", "SECRET", "TOKEN", "URL", "USER")


def test_fixed_variables_are_these():
    """The fixed variables are a literal list: a change of it changes what a replay means."""
    assert dict(FIXED_VARIABLES) == FIXED


def test_empty_caller_gives_the_fixed_variables_alone():
    """Nothing is invented beside the fixed variables."""
    assert worker_environment({}) == FIXED


def test_caller_cannot_change_a_fixed_variable():
    """Time zone, locale and hash seed of the caller do not reach the worker."""
    caller = {"TZ": "Asia/Tokyo", "LC_ALL": "de_DE.UTF-8", "LANG": "de", "PYTHONHASHSEED": "7"}
    assert worker_environment(caller) == FIXED


def test_hash_seed_is_the_runners():
    """A comparison may ask for another hash seed; nothing else changes with it."""
    assert worker_environment({}, hash_seed=12) == {**FIXED, "PYTHONHASHSEED": "12"}


@pytest.mark.parametrize(
    "name",
    [
        "AWS_SECRET_ACCESS_KEY",
        "HOME",
        "HOSTNAME",
        "LD_PRELOAD",
        "LOGNAME",
        "OMP_SECRET_TOKEN",
        "OPENBLAS_API_KEY",
        "PWD",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "SSH_AUTH_SOCK",
        "TMPDIR",
        "USER",
        "XDG_CACHE_HOME",
        "omp_num_threads",
    ],
)
def test_unlisted_variables_are_not_passed(name):
    """A name that is not listed is dropped, whatever prefix it shares with a listed one."""
    assert worker_environment({name: "x"}) == FIXED


@pytest.mark.parametrize(
    "name",
    [
        "ATEN_CPU_CAPABILITY",
        "CUBLAS_WORKSPACE_CONFIG",
        "GLIBC_TUNABLES",
        "KMP_DETERMINISTIC_REDUCTION",
        "MKL_CBWR",
        "NPY_DISABLE_CPU_FEATURES",
        "OMP_NUM_THREADS",
        "OPENBLAS_CORETYPE",
        "VECLIB_MAXIMUM_THREADS",
    ],
)
def test_numeric_variables_are_passed_and_recorded(name):
    """What can change bytes reaches the worker as it stands, and the record."""
    assert worker_environment({name: "1"}) == {**FIXED, name: "1"}
    assert numeric_variables({name: "1"}) == {name: "1"}


@pytest.mark.parametrize("name", sorted(STARTING_VARIABLES))
def test_starting_variables_are_passed_and_never_recorded(name):
    """Search paths reach the worker but no record."""
    assert worker_environment({name: "/opt/x"})[name] == "/opt/x"
    assert numeric_variables({name: "/opt/x"}) == {}


def test_result_is_sorted_and_leaves_the_caller_alone():
    """The environment does not depend on the order of the caller's, and is a copy."""
    caller = {"PATH": "/bin", "OMP_NUM_THREADS": "2", "MKL_CBWR": "COMPATIBLE"}
    backwards = dict(reversed(caller.items()))
    assert list(worker_environment(caller)) == list(worker_environment(backwards))
    assert list(worker_environment(caller)) == sorted(worker_environment(caller))
    assert caller == {"PATH": "/bin", "OMP_NUM_THREADS": "2", "MKL_CBWR": "COMPATIBLE"}


@pytest.mark.parametrize(
    "value",
    [
        "/opt/lib/x.so",
        "a=/home/ada",
        "C:\\Users\\ada",
        "~ada/x",
        "~",
        "a\nb",
        "caf\u00e9",
        "\udcff",
    ],
    ids=ascii,
)
def test_values_like_paths_are_hidden(value):
    """A record says that such a variable was set, never to what; the worker still gets it."""
    assert numeric_variables({"FLEXIBLAS": value}) == {"FLEXIBLAS": HIDDEN_VALUE}
    assert worker_environment({"FLEXIBLAS": value})["FLEXIBLAS"] == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2,-FMA:glibc.malloc.check=3"),
        ("KMP_AFFINITY", "granularity=fine,compact,1,0"),
        ("OMP_PLACES", "{0:4}:8:1"),
        ("NPY_DISABLE_CPU_FEATURES", "AVX2 FMA3"),
        ("CUBLAS_WORKSPACE_CONFIG", ":4096:8"),
        ("OMP_NUM_THREADS", ""),
    ],
)
def test_usual_values_are_recorded_as_they_stand(name, value):
    """The rule for paths does not hide what these variables usually hold."""
    assert numeric_variables({name: value}) == {name: value}


def test_recorded_variables_are_sorted():
    """Order of the environment does not reach the record."""
    names = list(numeric_variables(dict.fromkeys(sorted(NUMERIC_VARIABLES, reverse=True), "1")))
    assert names == sorted(NUMERIC_VARIABLES)


def test_no_listed_name_sounds_like_a_secret():
    """The lists hold exact names, none of which is where people put credentials."""
    parts = {part for name in NUMERIC_VARIABLES | STARTING_VARIABLES for part in name.split("_")}
    assert not parts & set(SECRET_WORDS)


def test_lists_do_not_overlap():
    """Every variable has one rule."""
    assert not NUMERIC_VARIABLES & STARTING_VARIABLES
    assert not FIXED_VARIABLES.keys() & (NUMERIC_VARIABLES | STARTING_VARIABLES)
