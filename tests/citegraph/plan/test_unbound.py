"""What a denial that became no condition leaves out."""

from citegraph.plan.unbound import unmentioned


def test_a_not_that_is_no_condition_leaves_nothing_out() -> None:
    aside = "a Tarn lantern sheet from 2024, but not which one, list the sheets"
    assert unmentioned(aside, ["not"], ["lantern", "tarn"]) == ("", [])
    assert unmentioned("sheets that do not mention lanterns", ["not"], ["lanterns"]) == ("not", ["lanterns"])
