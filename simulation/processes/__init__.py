"""processes: containers of simulated pods as processes of this machine, for --simulate-local-processes."""
