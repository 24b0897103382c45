// State module `rsync`: folders that are synchronized with a source.

import { defineState, newDict, p, pyStr, state, textKeyed } from 'halite/sdk';
import { existsSync, mkdirSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';

/** The last part of what rsync prints, as a list. */
function summary(text: string): string {
  const last = text.split('\n\n').at(-1) ?? '';
  return `- ${last.replaceAll('  ', '\n').split('\n').filter(Boolean).join('\n- ')}`;
}

/** Files that were copied and removed; undefined when there were none. */
function changesOf(text: string) {
  const lines = (text.split('\n\n')[0] ?? '').split('\n').slice(1);
  const deleted = lines.filter((line) => line.startsWith('deleting ')).map((line) => line.slice('deleting '.length));
  const copied = lines.filter((line) => !line.startsWith('deleting '));
  if (copied.join('') === '' && deleted.length === 0) return undefined;
  const shown = (list: string[]): string => list.sort().join('\n') || 'N/A';
  return newDict(Object.entries({ copied: shown(copied), deleted: shown(deleted) }));
}

const synchronized = state({
  doc: 'A folder that is synchronized with a source.',
  examples: ['/srv/copy:\n  rsync.synchronized:\n    - source: /srv/original/\n    - delete: true'],
  params: {
    name: p.path({ doc: 'the folder' }),
    source: p.string({ doc: 'the source' }),
    delete: p.bool({ default: false, doc: 'remove what is no longer in the source' }),
    force: p.bool({ default: false, doc: 'also replace folders that are not empty' }),
    update: p.bool({ default: false, doc: 'skip files that are newer at the destination' }),
    passwordfile: p.scalar({ default: null, doc: 'file with the password of a daemon' }),
    exclude: p.oneOf(['string', 'list'], { default: null, doc: 'patterns to exclude' }),
    excludefrom: p.scalar({ default: null, doc: 'file with such patterns' }),
    prepare: p.bool({ default: false, doc: 'make the folder' }),
    dryrun: p.bool({ default: false, doc: 'only report what would be done' }),
    additional_opts: p.oneOf(['list', 'string'], { default: null, doc: 'list of further options' }),
  },
  async run({ name, source, prepare, dryrun, ...args }, ctx) {
    const there = existsSync(name);
    if (!there && !args.force && !prepare) return ctx.fail(`Destination directory ${name} was not found.`);
    // The function has a test mode of its own.
    const dry = ctx.test || dryrun;
    if (!there && prepare && !dry) mkdirSync(name, { recursive: true });
    const kwargs = newDict([...Object.entries(args), ['dryrun', dry]]);
    const done = textKeyed(await ctx.callWith('rsync.rsync', [source, name], kwargs));
    const said = pyStr(done['stdout'] ?? '');
    if (done['retcode']) return ctx.fail(pyStr(done['stderr'] ?? ''));
    const changes = changesOf(said);
    if (!changes) return ctx.ok(summary(said));
    return dry ? ctx.result({ result: null, comment: summary(said) }) : ctx.ok(summary(said), { changes });
  },
});

export default defineState({
  name: 'rsync',
  doc: 'Folders that are synchronized with a source.',
  available: () => which('rsync') !== null || 'Command not found: rsync',
  functions: { synchronized },
});
