"""Positive-unlabelled learning on news: the CBP-SLC study's figures 6-9 and table 1, redone.

The placeholder of this draft is filled below.
"""
