"""Random JSON values, as intake may meet them."""

from hypothesis import strategies as st

from planner.records.base import SAFE_INTEGER

TEXT = st.text(max_size=8)
NUMBERS = st.one_of(
    st.integers(-SAFE_INTEGER, SAFE_INTEGER),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
    st.integers(-1000, 1000).map(float),
    st.sampled_from([0.0, -0.0, 1e-4, 9.9e-5, 1e-6, 9e-7, 1e16, 1e21, 9007199254740992.0, 5e-324]),
)
ATOMS = st.none() | st.booleans() | NUMBERS | TEXT
TREES = st.recursive(
    ATOMS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT | st.sampled_from("abc"), inner, max_size=5),
    max_leaves=25,
)
