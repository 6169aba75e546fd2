"""Random JSON values, as intake may meet them."""

from hypothesis import strategies as st

from planner.records.base import SAFE_INTEGER

TEXT = st.text(max_size=8)
INTEGERS = st.integers(-SAFE_INTEGER, SAFE_INTEGER)
EDGES = st.sampled_from([0.0, -0.0, 1e-4, 9.9e-5, 1e-6, 9e-7, 5e-324, 4503599627370495.5])
SMALL = st.one_of(
    INTEGERS,
    EDGES,
    st.floats(-SAFE_INTEGER, SAFE_INTEGER),
    st.floats(-1, 1, width=16),
    st.integers(-1000, 1000).map(float),
)
"""Numbers below 2^53: above, implementations admit different ones."""
NUMBERS = SMALL | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([1e16, 1e21, 9007199254740992.0])


def trees(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[object]:
    """Return a strategy of JSON values with these numbers."""
    return st.recursive(
        st.none() | st.booleans() | numbers | TEXT,
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT | st.sampled_from("abc"), inner, max_size=5),
        max_leaves=20,
    )
