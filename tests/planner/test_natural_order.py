"""Names with numbers in them, in the order in which people read them."""

from planner.natural_order import natural


def test_names_are_ordered_by_their_numbers() -> None:
    names = ["gpu-2", "gpu-10", "gpu-02", "gpu", "10", "9", "rail-a", "gpu-1-mig-3"]
    assert sorted(names, key=natural) == ["9", "10", "gpu", "gpu-1-mig-3", "gpu-2", "gpu-02", "gpu-10", "rail-a"]


def test_any_text_is_ordered() -> None:
    names = ["9" * 5000, "mlx5_²", "", "٣", "1"]
    assert sorted(names, key=natural) == ["", "1", "9" * 5000, "mlx5_²", "٣"]
