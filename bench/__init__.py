"""Measurements: one runner, one store of rows, one writer of tables and pages. `python3 -m bench` lists the benches.

A bench is a module with a grid, a measure and a verdict:

    OPTIONS             its options, if it has any; DEFAULTS: other defaults of these and of those that all benches have
    checked(…)          is given parser and options, and refuses options that do not go together, if there are such
    measured(asked)     makes the missing rows and returns tables by their marks, or tables and whether all bars were met
    PAGE                page of docs/measurements that has the tables, if there is one
"""
