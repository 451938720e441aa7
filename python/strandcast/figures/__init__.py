"""Figures of papers: what they are, what runs gave, pictures and pages. The papers themselves are in `experiments`."""
