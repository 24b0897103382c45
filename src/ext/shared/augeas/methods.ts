// The allowed changes of an Augeas tree.

/** Commands of users → those of augtool. */
export const methods: Readonly<Record<string, string>> = {
  set: 'set',
  setm: 'setm',
  mv: 'move',
  move: 'move',
  ins: 'insert',
  insert: 'insert',
  rm: 'remove',
  remove: 'remove',
};
