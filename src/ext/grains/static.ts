// Grains that operators set: the `grains` file next to the configuration, and the options themselves when wished.
import { defineGrain, dictEntries, dictOf, newDict, type Value } from 'halite/sdk';
import { messageOf } from '../../base/errors/index.ts';
import { grainsPath, readGrainsFile } from '../modules/support/grains-file.ts';

export default defineGrain({
  name: 'static',
  doc: 'Grains set by grains.setval and its kin or written by hand into the grains file; `opts` when grain_opts is on.',
  priority: 90,
  collect(ctx) {
    const path = grainsPath(ctx.opts);
    const entries: [Value, Value][] = ctx.opts['grain_opts'] ? [['opts', newDict(Object.entries(ctx.opts))]] : [];
    if (!path) return dictOf(entries);
    try {
      return dictOf([...entries, ...dictEntries(readGrainsFile(path))]);
    } catch (error) {
      ctx.log.warn('Bad syntax in grains file! Skipping.', { path, problem: messageOf(error) });
      return dictOf(entries);
    }
  },
});
