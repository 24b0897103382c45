// State module `file`: files, folders and links, their content, owners and modes.
import { defineState, p, state } from 'halite/sdk';
import { append, prepend } from './add.ts';
import { checkFailure } from './check-command.ts';
import { copy, rename } from './copy.ts';
import { directory } from './directory.ts';
import { blockreplace, comment, line, replace, uncomment } from './edit.ts';
import { keyvalue } from './keyvalue.ts';
import { hardlink, symlink } from './links.ts';
import { managed } from './managed.ts';
import { patch } from './patch.ts';
import { absent, exists, missing, pruned, tidied, touch } from './presence.ts';
import { recurse } from './recurse.ts';
import { retention_schedule } from './retention.ts';
import { serialize } from './serialize.ts';
import { accumulated, cached, decode, mknod, not_cached, shortcut } from './special.ts';

/** Declares that this module runs `check_cmd` itself, before the file is written, so the engine does not run it afterwards. */
const mod_run_check_cmd = state({
  doc: 'Runs a command on a file; its exit code must be 0.',
  params: { cmd: p.string({ doc: 'the command' }), filename: p.path({ doc: 'added as last argument' }) },
  async run({ cmd, filename }, ctx) {
    const problem = await checkFailure(cmd, filename, ctx);
    return problem === undefined ? ctx.ok('') : ctx.fail(problem, { skip_watch: true });
  },
});

export default defineState({
  name: 'file',
  doc: 'Files, folders and links: content, owners, modes.',
  functions: {
    absent,
    accumulated,
    append,
    blockreplace,
    cached,
    comment,
    copy,
    decode,
    directory,
    exists,
    hardlink,
    keyvalue,
    line,
    managed,
    missing,
    mknod,
    mod_run_check_cmd,
    not_cached,
    patch,
    prepend,
    pruned,
    recurse,
    rename,
    replace,
    retention_schedule,
    serialize,
    shortcut,
    symlink,
    tidied,
    touch,
    uncomment,
  },
});
