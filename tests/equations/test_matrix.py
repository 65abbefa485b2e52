"""Matrices of rounded numbers give what torch gives, within their own bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import equal
from imlp_audit.equations.matrix import RoundedMatrix, add, dot
from imlp_audit.equations.strategies import Matrix, Vector
from tests.strategies import number_matrices, number_vectors

A = Arithmetic()


@given(number_matrices(2, 3), number_matrices(3, 2), number_vectors(3))
def test_products(left: Matrix, right: Matrix, x: Vector) -> None:
    ours, theirs = A.matrix(left), A.tensor(left)
    assert equal(theirs @ A.tensor(right), ours @ A.matrix(right)).holds
    assert equal(theirs @ A.tensor(x), ours @ A.vector(x)).holds
    assert equal(A.tensor(x) @ A.tensor(x), dot(A.vector(x), A.vector(x))).holds


@given(number_matrices(2, 3), number_matrices(2, 3), number_vectors(2))
def test_element_by_element(left: Matrix, right: Matrix, x: Vector) -> None:
    ours, theirs = A.matrix(left), A.tensor(left)
    assert equal(theirs + A.tensor(right), ours + A.matrix(right)).holds
    assert equal(theirs * A.tensor(right), ours * A.matrix(right)).holds
    assert equal(-2 * theirs, ours.scale(-2)).holds
    assert equal(theirs.abs(), ours.map(lambda n: n.through(abs, 1.0, 0.0))).holds
    assert equal(theirs.T + A.tensor(x), ours.T.map_rows(lambda row: add(row, A.vector(x)))).holds


def test_a_matrix_is_a_sequence_of_rows() -> None:
    matrix = A.matrix(((1.0, 2.0), (3.0, 4.0), (5.0, 6.0)))
    assert [number.value for number in matrix[1]] == [3, 4]
    assert isinstance(matrix[1:], RoundedMatrix)
    assert (len(matrix), len(matrix[1:]), len(matrix.T)) == (3, 2, 2)


@given(st.integers(1, 3))
def test_a_product_rounds_as_often_as_its_terms_may(size: int) -> None:
    (row,) = A.matrix(((0.5,) * size,)) @ A.matrix(((2.0,),) * size)
    assert row[0].steps == 1 + size - 1
