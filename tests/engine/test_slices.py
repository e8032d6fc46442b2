from bpe_viz.engine.slices import next_budget


def test_a_slice_that_took_too_long_is_followed_by_a_shorter_one():
    assert next_budget(1_000, 0.04, least=1) == 500


def test_a_budget_grows_at_most_fourfold_at_once():
    assert next_budget(1_000, 0.0, least=1) == 4_000


def test_a_slice_is_never_next_to_nothing():
    assert next_budget(1_000, 60.0, least=200) == 200
