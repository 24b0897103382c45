// Makes real Salt minions able to take a new master key by themselves: they get the key that verifies signatures of the
// master's key, are told to demand them, and are restarted.
import { dictGet, type MasterContext, newDict, type PlainDict, type Value } from 'halite/sdk';
import { ask, besides, startEvents } from './salt-minions.ts';

export interface PrepareRequest {
  readonly tgt: Value;
  readonly tgt_type: string;
  readonly restart: string;
  readonly batch: number;
  readonly patience: number;
  readonly dry_run: boolean;
}

const confName = '_verify_master.conf';
const confText = 'verify_master_pubkey_sign: true';

export async function prepareMinions(ctx: MasterContext, request: PrepareRequest): Promise<PlainDict> {
  const { fleet } = ctx.master;
  const ids: string[] = [];
  const away: string[] = [];
  for (const id of fleet.match(request.tgt as string, request.tgt_type)) {
    const grains = await fleet.grains(id);
    if (grains && dictGet(grains, 'haliteversion') !== undefined) continue;
    (fleet.status(id)?.connected === 'no' ? away : ids).push(id);
  }
  ids.sort();
  const plan = [
    'On each of these minions, a few at a time:',
    '  the public key that verifies signatures is written to its pki folder (master_sign.pub)',
    `  ${confName} is written to its minion.d: ${confText}`,
    `  it is restarted: ${request.restart}`,
    'From then on it is answered with a signed master key. One that does not come back gets its file removed again.',
  ];
  if (request.dry_run)
    return newDict([
      ['plan', plan],
      ['minions', ids],
      ['away', away],
    ]);
  const key = (await ctx.master.rollover.signingKey()).trim();
  const done: string[] = [];
  const size = Math.max(1, request.batch);
  for (let at = 0; at < ids.length; at += size) {
    const group = ids.slice(at, at + size);
    const { prepared, problem } = await prepareGroup(ctx, request, group, key);
    done.push(...prepared);
    if (problem !== undefined) {
      ctx.setRetcode(1);
      const left = ids.filter((id) => !done.includes(id));
      return newDict([
        ['prepared', done],
        ['stopped', problem],
        ['not prepared', left],
        ['away', away],
      ]);
    }
    ctx.progress(`${done.length} of ${ids.length} Salt minions`);
  }
  return newDict([
    ['prepared', done],
    ['away', away],
  ]);
}

interface Prepared {
  readonly prepared: readonly string[];
  readonly problem?: string;
}

async function prepareGroup(
  ctx: MasterContext,
  { restart, patience }: PrepareRequest,
  ids: readonly string[],
  key: string,
): Promise<Prepared> {
  const { rollover } = ctx.master;
  const settings: Record<string, Awaited<ReturnType<typeof ask>>> = {};
  for (const name of ['conf_file', 'pki_dir', 'verify_master_pubkey_sign', 'master_sign_key_name'])
    settings[name] = await ask(ctx, ids, 'config.get', [name]);
  const restarted: string[] = [];
  const prepared: string[] = [];
  for (const id of ids) {
    const setting = (name: string): Value | undefined => settings[name]?.[id]?.ret;
    const [file, folder] = [setting('conf_file'), setting('pki_dir')];
    if (typeof file !== 'string' || typeof folder !== 'string' || !file.startsWith('/') || !folder.startsWith('/'))
      return { prepared, problem: `${id} did not say where its configuration and its keys are` };
    if (setting('verify_master_pubkey_sign') === true) {
      await rollover.demandSignature(id, true);
      prepared.push(id);
      continue;
    }
    const conf = besides(file, confName);
    const name = setting('master_sign_key_name');
    const keyFile = `${folder}/${typeof name === 'string' && /^[\w.-]+$/.test(name) ? name : 'master_sign'}.pub`;
    await ask(ctx, [id], 'file.mkdir', [conf.replace(/\/[^/]*$/, '')]);
    for (const [place, text] of [
      [keyFile, key],
      [conf, confText],
    ] as const) {
      const written = (await ask(ctx, [id], 'file.write', [place, text]))[id];
      if (!written?.success || !/^Wrote/.test(String(written.ret)))
        return { prepared, problem: `${id} could not write ${place}: ${String(written?.ret ?? 'no answer')}` };
    }
    restarted.push(id);
  }
  if (restarted.length === 0) return { prepared };
  // The start events come within moments: somebody has to listen before the restart.
  const started = startEvents(ctx, restarted, patience);
  await ask(ctx, restarted, 'cmd.run_bg', [restart]);
  // Not earlier: the process that still runs refuses a signed key.
  for (const id of restarted) await rollover.demandSignature(id, true);
  const late = await started.missing;
  for (const id of late) {
    await rollover.demandSignature(id, false);
    const file = settings['conf_file']?.[id]?.ret;
    if (typeof file === 'string') await ask(ctx, [id], 'file.remove', [besides(file, confName)]);
  }
  prepared.push(...restarted.filter((id) => !late.includes(id)));
  return late.length === 0
    ? { prepared }
    : {
        prepared,
        problem: `no start event after the restart from ${late.join(', ')}; their ${confName} was removed again`,
      };
}
