"""The benchmark: the data number for number, the one training loop, and its plain twin."""
