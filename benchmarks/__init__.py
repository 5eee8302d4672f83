"""Benchmarks: ours and each installed peer, timed alternately in one process.

``python -m benchmarks list`` names the workloads and peers,
``python -m benchmarks run WORK...`` runs some of them.
"""
