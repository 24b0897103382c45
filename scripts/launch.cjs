// Starts a command from its bundle, with V8's code cache when it fits this Node: compiling is half of a short command's life.
'use strict';
const { readFileSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { constants, Script } = require('node:vm');

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
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(filename, 'utf8')}\n})`;
  const cache = join(__dirname, `${name}.cache`);
  const making = process.env.HALITE_MAKE_CODE_CACHE === '1';
  const script = new Script(source, {
    filename,
    cachedData: making ? undefined : read(cache),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  // Made after a run, so that the functions which ran are compiled in it.
  if (making) process.on('exit', () => writeFileSync(cache, script.createCachedData()));
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, __dirname);
};
