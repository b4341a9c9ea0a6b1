"""The exhibit's formulas: numbers in, numbers out.

Every count the exhibit shows is computed here. The folder imports numpy and the standard library only: no files,
no clock, no network. Start with `shapes` (the two objects everything takes), then `traffic` and `online_softmax`.
"""
