"""Baselines: a file that lists known failures, so that a CI goes red for new ones only, and for a list that is wrong.

A listed failure is still a failure wherever verdicts are told: a baseline changes how a command ends and nothing else.
The file is written by people; the commands change whole entries of it by their lines, and leave the rest as it is.
"""
