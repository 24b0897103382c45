// What `halite` can be asked to do; the shells complete these words.

/** Procedures that move or save a master. */
export const moves: readonly string[] = ['clone', 'compare', 'export', 'import', 'backup', 'restore'];

export const verbs: readonly string[] = [
  ...['doctor', 'explain', 'config', 'migrate', 'cluster', 'drill', 'completion', 'ssh-runtime'],
  ...moves,
];
