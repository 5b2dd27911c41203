"""Trajectories that tests compare with those of the program."""

import numpy as np
from scipy.integrate import solve_ivp


def exact_path(motion, times, start):
    """The solution of an ordinary differential equation at times, by another integrator, with errors of round-off."""
    return solve_ivp(motion, (0.0, times[-1]), start, "DOP853", t_eval=times, rtol=1e-13, atol=1e-14).y


def star_path(times, w, k, mass, stiffness, q0, v0):
    """A particle on a spring, by its normal modes with oscillators of frequencies w and springs k that follow its start."""
    masses = np.concatenate([[mass], k / w**2])
    matrix = np.diag(np.concatenate([[stiffness + k.sum()], k]))
    matrix[0, 1:] = matrix[1:, 0] = -k
    squares, modes = np.linalg.eigh(matrix / np.sqrt(np.outer(masses, masses)))
    speed = np.zeros(len(masses))
    speed[0] = np.sqrt(mass) * v0
    a, b = modes.T @ (np.sqrt(masses) * q0), modes.T @ speed
    omega = np.sqrt(np.maximum(squares, 1e-30))
    phase = np.outer(times, omega)
    return (np.cos(phase) * a + np.sin(phase) * (b / omega)) @ modes[0] / np.sqrt(mass)
