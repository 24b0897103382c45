// The version of Halite, and the Salt release whose behaviour it follows.

/** This program. */
export const haliteVersion = '0.1.0';

/** What peers, installers and state files are told: the Salt release Halite stands in for. */
export const saltCompatVersion = '3006.27';
