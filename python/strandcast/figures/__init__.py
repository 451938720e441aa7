"""Figures of papers: their description, results of runs, pictures and pages.

The papers themselves are in `experiments`.
"""
