// The program that runs salt-ssh for requests that reach the master (`client: ssh` of the API): one process for each,
// started by the master (src/master/local/ssh-call.ts). It says which hosts it found, and connects to none of them
// before the master has decided that the caller may.
import { pack, unpack } from '../base/codec/msgpack/index.ts';
import { newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { loadMasterConfig } from '../base/config/master.ts';
import type { MasterOpts } from '../base/config/opts.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import { createLoggerFromOpts, type RootLogger } from '../base/log/index.ts';
import { resolveLinks } from '../engine/exec/sdb-links.ts';
import { isProblem } from '../protocol/wire/messages/fields.ts';
import { readServedSsh, type ServedSshCall, type SshItem, sshItem } from '../protocol/wire/messages/ssh-call.ts';
import { openHistory, rawFunction } from './history.ts';
import { ensureKey } from './key-deploy.ts';
import { knownMinions } from './known-minions.ts';
import { askPasswordProgram } from './password-program.ts';
import { Rosters } from './rosters.ts';
import { type SshJob, SshRun } from './run.ts';
import { readSettings, usesKey } from './settings.ts';

/** A master that has ended needs no answers; the job goes on, and its results are in the history. */
function tell(item: SshItem): void {
  if (process.connected) process.send?.(pack(sshItem(item)), () => undefined);
}

/** The next message of the master; undefined when it has none any more. */
const nextMessage = (): Promise<Value | undefined> =>
  new Promise((resolve) => {
    process.once('message', (data) => resolve(unpack(data as Uint8Array)));
    process.once('disconnect', () => resolve(undefined));
  });

function optionsFor({ call, configDir }: ServedSshCall, opts: MasterOpts): PlainDict {
  const options = newDict(Object.entries(opts.raw));
  options['config_dir'] = configDir;
  if (call.rosterFile !== '') options['roster_file'] = call.rosterFile;
  return options;
}

function rostersOf(asked: ServedSshCall, opts: MasterOpts, options: PlainDict, log: RootLogger): Rosters {
  return new Rosters({
    ...{ opts: options, log, signal: new AbortController().signal, confined: asked.call.rosterFile !== '' },
    knownMinions: (target) => knownMinions(opts, target),
    secret: async (address) =>
      (await resolveLinks(newDict([['secret', address]]), ['secret'], options, log))['secret'] ?? null,
  });
}

function jobOf({ call, jid }: ServedSshCall): SshJob {
  const { raw, fun, arg, kwarg } = call;
  if (raw) return { jid, raw, fun: rawFunction, words: [fun, ...arg.map(String)] };
  return { jid, raw, fun, args: arg, kwargs: kwarg };
}

async function serve(asked: ServedSshCall, log: RootLogger, opts: MasterOpts): Promise<void> {
  const { tgt, tgt_type: kind } = asked.call;
  const options = optionsFor(asked, opts);
  await askPasswordProgram(options);
  const settings = readSettings(options);
  const rosters = rostersOf(asked, opts, options, log);
  const targets = await rosters.targets({ tgt, kind }, settings.defaults);
  tell({ type: 'hosts', jid: asked.jid, ids: targets.map(({ id }) => id) });
  // Anything but a message is a refusal.
  if (targets.length === 0 || (await nextMessage()) === undefined) return;
  if (targets.some(({ priv }) => priv === settings.defaults.priv) && usesKey(settings.defaults.priv))
    await ensureKey(settings.defaults.priv);
  const job = jobOf(asked);
  const history = await openHistory(opts, log);
  const run = new SshRun({
    ...{ opts, log, settings, history, signal: new AbortController().signal, onProgress: () => undefined },
    find: (query, queryKind) => rosters.targets({ tgt: query, kind: queryKind }, settings.defaults),
  });
  try {
    const { jid, fun } = job;
    const arg = job.words ? [...job.words] : shownArguments(asked);
    const ids = targets.map(({ id }) => id);
    await history.job({ jid, fun, arg, tgt, tgt_type: kind, user: asked.user }, ids);
    for await (const { target, outcome, ret, retcode } of run.run(targets, job))
      tell({
        ...{ type: 'return', id: target.id, ret, retcode },
        funArgs: outcome.kind === 'result' ? outcome.funArgs : arg,
      });
  } finally {
    await run.close();
    await history.close();
  }
}

function shownArguments({ call: { arg, kwarg } }: ServedSshCall): Value[] {
  const named = Object.entries(kwarg);
  return named.length > 0 ? [...arg, newDict([...named, ['__kwarg__', true]])] : [...arg];
}

async function main(): Promise<void> {
  const message = await nextMessage();
  const asked = message === undefined ? undefined : readServedSsh(message);
  if (!asked || isProblem(asked)) return;
  const { opts } = loadMasterConfig({ configDir: asked.configDir });
  const log = createLoggerFromOpts({ ...opts, log_file: opts.ssh_log_file, log_level: 'quiet' });
  try {
    await serve(asked, log, opts);
    tell({ type: 'end' });
  } catch (error) {
    log.error('a request for salt-ssh failed', { error: messageOf(error) });
    tell({ type: 'failed', text: messageOf(error), hint: error instanceof HaliteError ? (error.hint ?? '') : '' });
  } finally {
    await log.flush();
    await log.close();
    if (process.connected) process.disconnect();
  }
}

void main();
