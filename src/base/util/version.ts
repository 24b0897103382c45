// The version of Halite, and the Salt release whose behaviour it follows.

/** The version of this program. */
export const haliteVersion = '0.1.0';

/** The Salt release that Halite reports to peers, installers and state files. */
export const saltCompatVersion = '3006.27';
