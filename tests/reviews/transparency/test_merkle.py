"""Roots and proofs, against published roots and the RFC's own definitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.transparency.merkle import (
    EMPTY_ROOT,
    Tree,
    consistency_holds,
    consistency_proof,
    inclusion_holds,
    inclusion_proof,
    leaf_hash,
    nodes_of,
    root_at,
)
from tests.reviews.transparency.reference import path, proof, tree_hash

PUBLISHED_LEAVES = ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
PUBLISHED_ROOTS = (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
"""Leaves and roots that the implementations of Certificate Transparency are tested with."""

LEAVES = [bytes([number]) * (number % 5) for number in range(40)]
HASHES = [leaf_hash(leaf) for leaf in LEAVES]
EVERY_SIZE = range(1, len(LEAVES) + 1)


def grown(size: int) -> Tree:
    """Return the tree of the first leaves, made leaf by leaf."""
    tree = Tree()
    for leaf in HASHES[:size]:
        tree.append(leaf)
    return tree


@pytest.mark.parametrize("size", range(1, 9))
def test_a_root_is_the_published_one(size: int) -> None:
    tree = Tree()
    for leaf in PUBLISHED_LEAVES[:size]:
        tree.append(leaf_hash(bytes.fromhex(leaf)))
    assert tree.root().hex() == PUBLISHED_ROOTS[size - 1]


def test_the_root_of_nothing_is_the_hash_of_nothing() -> None:
    assert Tree().root() == root_at(nodes_of([]), 0) == EMPTY_ROOT == tree_hash([])


@pytest.mark.parametrize("size", EVERY_SIZE)
def test_both_ways_to_a_root_agree_with_the_definition(size: int) -> None:
    assert grown(size).root() == root_at(nodes_of(HASHES), size) == tree_hash(LEAVES[:size])


@pytest.mark.parametrize("size", EVERY_SIZE)
def test_a_tree_goes_on_from_its_kept_hashes(size: int) -> None:
    first = grown(size)
    second = Tree(first.size, first.hashes)
    for leaf in HASHES[size:]:
        second.append(leaf)
    assert second.root() == tree_hash(LEAVES)


def test_a_tree_takes_no_other_number_of_hashes() -> None:
    with pytest.raises(ValueError, match="5 leaves has 2 complete subtrees, not 1"):
        Tree(5, HASHES[:1])


@pytest.mark.parametrize("size", EVERY_SIZE)
def test_inclusion_proofs_are_those_of_the_definition(size: int) -> None:
    node = nodes_of(HASHES)
    assert [inclusion_proof(node, at, size) for at in range(size)] == [path(at, LEAVES[:size]) for at in range(size)]


@pytest.mark.parametrize("size", EVERY_SIZE)
def test_a_proof_shows_its_leaf_and_no_other_place(size: int) -> None:
    root = tree_hash(LEAVES[:size])
    for index in range(size):
        shown = inclusion_proof(nodes_of(HASHES), index, size)
        places = [at for at in range(-1, size + 1) if inclusion_holds(HASHES[index], at, size, shown, root)]
        assert places == [index]


@pytest.mark.parametrize("size", EVERY_SIZE)
def test_consistency_proofs_are_those_of_the_definition(size: int) -> None:
    node = nodes_of(HASHES)
    made = [consistency_proof(node, first, size) for first in range(1, size + 1)]
    assert made == [proof(first, LEAVES[:size]) for first in range(1, size + 1)]


@pytest.mark.parametrize("size", EVERY_SIZE)
def test_a_consistency_proof_shows_its_own_first_tree_only(size: int) -> None:
    root = tree_hash(LEAVES[:size])
    for first in range(1, size + 1):
        shown, root1 = consistency_proof(nodes_of(HASHES), first, size), tree_hash(LEAVES[:first])
        sizes = [other for other in range(size + 2) if consistency_holds(other, size, shown, root1, root)]
        assert sizes == [first]


@pytest.mark.parametrize(("size1", "size2"), [(0, 5), (0, 0), (6, 5), (-1, 5)])
def test_an_empty_or_larger_first_tree_has_no_proof(size1: int, size2: int) -> None:
    with pytest.raises(ValueError, match="0 < size1 <= size2"):
        consistency_proof(nodes_of(HASHES), size1, size2)
    assert not consistency_holds(size1, size2, [], EMPTY_ROOT, tree_hash(LEAVES[:5]))


@pytest.mark.parametrize("index", [-1, 5])
def test_a_leaf_that_is_not_there_has_no_proof(index: int) -> None:
    with pytest.raises(ValueError, match=f"has no leaf {index}"):
        inclusion_proof(nodes_of(HASHES), index, 5)


@given(st.data())
def test_no_altered_inclusion_proof_holds(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(LEAVES)))
    index = data.draw(st.integers(0, size - 1))
    shown = inclusion_proof(nodes_of(HASHES), index, size)
    altered = data.draw(alterations(shown).filter(lambda other: other != shown))
    assert not inclusion_holds(HASHES[index], index, size, altered, tree_hash(LEAVES[:size]))


@given(st.data())
def test_no_altered_consistency_proof_holds(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(LEAVES)))
    first = data.draw(st.integers(1, size))
    shown = consistency_proof(nodes_of(HASHES), first, size)
    altered = data.draw(alterations(shown).filter(lambda other: other != shown))
    assert not consistency_holds(first, size, altered, tree_hash(LEAVES[:first]), tree_hash(LEAVES[:size]))


@st.composite
def alterations(draw: st.DrawFn, shown: list[bytes]) -> list[bytes]:
    """A proof with a hash more, less, elsewhere or of another value."""
    other = list(shown)
    act = draw(st.sampled_from(["add", "drop", "swap", "flip"]))
    at = draw(st.integers(0, max(0, len(other) - 1)))
    if act == "add" or not other:
        other.insert(at, draw(st.sampled_from(HASHES)))
    elif act == "drop":
        del other[at]
    elif act == "swap":
        other[at], other[0] = other[0], other[at]
    else:
        bit = draw(st.integers(0, 255))
        other[at] = (int.from_bytes(other[at], "big") ^ 1 << bit).to_bytes(32, "big")
    return other
