"""What must survive faults: kills, interrupts, full disks, forks, lost clusters."""
