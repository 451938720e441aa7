"""Measurements: one runner, one store of rows, one writer of tables and pages. `python3 -m bench` lists the benches.

A bench is a module with a grid, a measure and a verdict:

    options(parser)     adds its options; `checked(parser, asked)`, if it is there, refuses those that do not go together
    measured(asked)     makes the missing rows and returns tables by their marks, or tables and whether all bars were met
    PAGE                page of docs/measurements that has the tables, if there is one
"""
