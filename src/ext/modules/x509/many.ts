// Functions of `x509` that read many files at once.
import { fn, newDict, type PlainDict, p, type Value } from 'halite/sdk';
import { globPaths, isFile } from 'halite/sdk/fs';

const glob_path = p.string({ doc: 'pattern of paths' });

/** Reads all matching files; unreadable ones are omitted. */
function readMany(pattern: string, read: (path: string) => Value): PlainDict {
  const found = newDict();
  for (const path of globPaths(pattern).filter(isFile)) {
    try {
      found[path] = read(path);
    } catch {
      // The folder may also contain other files.
    }
  }
  return found;
}

export const manyFunctions = (pem: (path: string) => Value, certificate: (path: string) => Value) => ({
  get_pem_entries: fn({
    doc: 'PEM blocks of every matching file, normalized.',
    examples: ['salt \'*\' x509.get_pem_entries "/etc/pki/*"'],
    params: { glob_path },
    run: (args) => readMany(args.glob_path, pem),
  }),
  read_certificates: fn({
    doc: 'Details of every matching certificate.',
    examples: ['salt \'*\' x509.read_certificates "/etc/pki/*.crt"'],
    params: { glob_path },
    run: (args) => readMany(args.glob_path, certificate),
  }),
});
