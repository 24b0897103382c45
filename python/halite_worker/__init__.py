"""The program that runs users' Python for Halite; src/engine/python/ starts it and talks to it."""
