// Starts a command from its bundle, with V8's code cache when it fits this Node: compiling is half of a short command's life.
'use strict';
const { readFileSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { constants, Script } = require('node:vm');

/**
 * Commands are short: code is optimised when it is really hot, and the nursery of the heap stays small, which halves
 * time and memory of most of them. Set when everything is loaded, because code caches, Node's own too, fit one set of
 * flags only.
 */
const shortLife = [
  '--semi-space-growth-factor=1',
  // So small a nursery is collected before a second thread has woken up.
  '--no-parallel-scavenge',
  '--interrupt-budget=2000000',
  // One optimised function costs several megabytes: the compiler's own code and its work space.
  '--max-bytecode-size-for-early-opt=0',
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
  // The bundle is ASCII and a function already: one copy of it in memory, one byte for a letter.
  const source = readFileSync(filename, 'latin1');
  const cache = join(__dirname, `${name}.cache`);
  // Where the bundle will be: the cache remembers it, and traces show it.
  const making = process.env.HALITE_MAKE_CODE_CACHE;
  const script = new Script(source, {
    filename: making ? join(making, `${name}.cjs`) : filename,
    cachedData: making ? undefined : read(cache),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  // Made after a run, so that the functions which ran are compiled in it.
  if (making) process.on('exit', () => writeFileSync(cache, script.createCachedData()));
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, __dirname);
  if (!making)
    setImmediate(() => {
      for (const flag of shortLife) setFlagsFromString(flag);
    });
};
