"""Fault tolerance: kills, interrupts, full disks, forks, lost clusters."""
