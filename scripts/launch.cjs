// Starts a command from its bundle, with V8's code cache when it fits this Node: compiling is half of a short command's
// run time.
'use strict';
const { readFileSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { constants, Script } = require('node:vm');

/**
 * Commands are short: only very hot code is optimised, and the young generation of the heap stays small, which halves
 * time and memory of most of them. Set when everything is loaded, because code caches, including Node's own, are valid
 * for one set of flags only.
 */
const shortLife = [
  '--semi-space-growth-factor=1',
  // A young generation this small is collected before a second thread wakes up.
  '--no-parallel-scavenge',
  // V8 of Node 22 and newer has other names for what follows, and prints an error for names that it does not know.
  ...(Number.parseInt(process.versions.v8, 10) < 12
    ? [
        '--interrupt-budget=2000000',
        // One optimised function costs several megabytes: the compiler's own code and its work space.
        '--max-bytecode-size-for-early-opt=0',
      ]
    : ['--invocation-count-for-turbofan=100000']),
];

function read(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** @param {string} name the bundle beside this file, without its ending */
module.exports = function launch(name) {
  const filename = join(__dirname, `${name}.cjs`);
  // The bundle is ASCII and already a function: one copy of it in memory, one byte per character.
  const source = readFileSync(filename, 'latin1');
  const cache = join(__dirname, `${name}.cache`);
  // The final path of the bundle: the cache stores it, and traces show it.
  const making = process.env.HALITE_MAKE_CODE_CACHE;
  const script = new Script(source, {
    filename: making ? join(making, `${name}.cjs`) : filename,
    cachedData: making ? undefined : read(cache),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  // Created after a run, so that the functions that ran are compiled in it.
  if (making) process.on('exit', () => writeFileSync(cache, script.createCachedData()));
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, __dirname);
  if (!making)
    setImmediate(() => {
      for (const flag of shortLife) setFlagsFromString(flag);
    });
};
