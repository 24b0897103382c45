// Runner `doctor`: known problems of the master's stores and its fleet, each with a repair.
import {
  defineRunner,
  dictGet,
  isDict,
  type MasterContext,
  type MinionTrouble,
  masterFn,
  newDict,
  p,
  type Value,
} from 'halite/sdk';
import { clusterFindings } from './shared/doctor-cluster.ts';
import { masterFindings } from './shared/doctor-masters.ts';
import { counted, type Finding, named } from './shared/finding.ts';
import { statusOf } from './shared/rollover.ts';

const onMinion = 'there: halite doctor; it looks at names, ports, keys and processes';

/** The repair for each reason; `id` is one of the affected minions. */
const repairs: Readonly<Record<string, (id: string) => string>> = {
  'never-connected': () => onMinion,
  'connection-lost': () => `there: systemctl restart salt-minion; or ${onMinion}`,
  'not-subscribed': () => 'open the publish port between minion and master',
  'key-denied': (id) =>
    `if it was installed anew: salt-key -d ${id}, then accept its new key; if not, somebody else uses its id`,
  'too-old': () => 'upgrade it, or lower minimum_auth_version in the master configuration',
  silent: () => onMinion,
  'duplicate-id': (id) =>
    `give one of them another id in its minion_id file; who they are: salt-run manage.explain ${id}`,
  'clock-skew': () => 'there: timedatectl set-ntp true',
};

function fleetFindings(ctx: MasterContext): Finding[] {
  const troubles = grouped(ctx.master.fleet.troubles());
  const findings = [...troubles].map(([code, list]): Finding => {
    const [first] = list;
    const ids = list.map(({ id }) => id).sort();
    const text = list.length === 1 && first ? first.text : (first?.text ?? '').replace(/ \(.*\)$/s, '');
    const level = code === 'clock-skew' ? 'warning' : 'problem';
    return {
      level,
      what: `${counted(ids.length)} (${named(ids)}): ${text}`,
      repair: repairs[code]?.(ids[0] ?? '') ?? onMinion,
    };
  });
  const all = ctx.master.fleet.all();
  const wrong = new Set([...troubles.values()].flat().map(({ id }) => id));
  return [
    ...findings,
    { level: 'fine', what: `Nothing is known to be wrong with ${all.length - wrong.size} of ${counted(all.length)}` },
  ];
}

function grouped(list: readonly MinionTrouble[]): Map<string, MinionTrouble[]> {
  const groups = new Map<string, MinionTrouble[]>();
  for (const trouble of list) {
    const group = groups.get(trouble.code);
    if (group) group.push(trouble);
    else groups.set(trouble.code, [trouble]);
  }
  return groups;
}

function addressesOf(ctx: MasterContext, ids: readonly string[]): string {
  const places = ids.flatMap((id) => {
    const address = ctx.master.fleet.status(id)?.address;
    return address === undefined ? [] : [`${id} from ${address}`];
  });
  return places.length === 0 ? '' : ` (last contact: ${named(places)})`;
}

async function keyFindings(ctx: MasterContext): Promise<Finding[]> {
  const { pending, rejected, denied } = await ctx.master.keys.list();
  const finding = (ids: readonly string[], what: string, repair: string): Finding[] =>
    ids.length === 0 ? [] : [{ level: 'warning', what: `${counted(ids.length)} (${named(ids)}): ${what}`, repair }];
  return [
    ...finding(pending, 'the key waits for acceptance', 'compare it (salt-key -f ID), then: salt-key -a ID'),
    ...finding(rejected, 'the key is rejected', 'to forget it: salt-key -d ID'),
    ...finding(
      denied,
      `another key than the accepted one was presented${addressesOf(ctx, denied)}`,
      'see salt-run manage.explain ID; to forget it: salt-key -d ID',
    ),
  ];
}

async function storeFindings(ctx: MasterContext): Promise<Finding[]> {
  const health = await ctx.master.jobs.health();
  const part = (of: Value | undefined, name: string): Value =>
    of !== undefined && isDict(of) ? (dictGet(of, name) ?? null) : null;
  const store = dictGet(health, 'store');
  const findings: Finding[] = [];
  if (part(store, 'state') === 'ok')
    findings.push({ level: 'fine', what: `History is kept in ${String(part(store, 'description'))}` });
  else
    findings.push({
      level: 'problem',
      what: `History cannot be written: ${String(part(store, 'error'))}`,
      repair: 'make room on its disk; waiting results are written then',
    });
  const spools = dictGet(health, 'spools');
  for (const [name, status] of Object.entries(spools !== undefined && isDict(spools) ? spools : {})) {
    const [state, waiting, error] = ['state', 'waiting', 'error'].map((key) => part(status as Value, key));
    if (error)
      findings.push({
        level: 'problem',
        what: `${name} is ${String(state)}, ${String(waiting)} records wait: ${String(error)}`,
        repair: 'bring the database back; what waits is written then, in order',
      });
    else findings.push({ level: 'fine', what: `${name} is ${String(state)}` });
  }
  return findings;
}

function reactorFindings(ctx: MasterContext): Finding[] {
  const { failed, dropped, last_error: last } = ctx.master.reactor.status();
  if (Number(failed) + Number(dropped) === 0) return [];
  const error = isDict(last ?? null) ? String(dictGet(last as never, 'error')) : '';
  return [
    {
      level: 'warning',
      what: `The reactor failed ${String(failed)} times and left out ${String(dropped)} since the master started; the last error: ${error}`,
      repair: 'correct the reaction file; counters: salt-run reactor.status',
    },
  ];
}

function reported(findings: readonly Finding[], all: boolean, ctx: MasterContext): Value[] {
  const found = findings.filter(({ level }) => all || level !== 'fine');
  if (found.some(({ level }) => level === 'problem')) ctx.setRetcode(1);
  return found.map((finding) => newDict(Object.entries(finding) as [string, Value][]));
}

/** Minions that do not have the key that is announced or presented. */
async function rolloverFindings(ctx: MasterContext): Promise<Finding[]> {
  const { phase, minions } = await statusOf(ctx);
  if (phase === 'none') return [];
  const ids = (standing: string): string[] => minions.filter((one) => one.standing === standing).map(({ id }) => id);
  const [later, hand] = [ids('later'), ids('by-hand')];
  const announced = phase === 'announced';
  return [
    ...(later.length === 0
      ? []
      : [
          {
            level: 'warning' as const,
            what: `${counted(later.length)} (${named(later)}): ${announced ? 'the next key of the master is announced and not stored' : 'the new key of the master is not known there yet'}`,
            repair: 'they get it when they come; see salt-run master.rotate_keys status=True',
          },
        ]),
    ...(hand.length === 0
      ? []
      : [
          {
            level: 'warning' as const,
            what: `${counted(hand.length)} (${named(hand)}): cannot take a new key of the master`,
            repair:
              'salt-run master.rotate_keys prepare=True, or the commands of salt-run master.rotate_keys status=True',
          },
        ]),
    ...(later.length + hand.length === 0
      ? [{ level: 'fine' as const, what: `All minions have the ${announced ? 'announced' : 'new'} key of the master` }]
      : []),
  ];
}

export default defineRunner({
  name: 'doctor',
  doc: 'Problems of the master’s stores, keys and minions, and their repairs.',
  functions: {
    fleet: masterFn({
      doc: 'Checks everything the master knows without asking minions. `halite doctor` shows this and the state of the machine.',
      examples: ['salt-run doctor.fleet', 'salt-run doctor.fleet all=True'],
      params: { all: p.bool({ default: false, doc: 'also checks that passed' }) },
      async run({ all }, ctx) {
        const found = [
          ...(await storeFindings(ctx)),
          ...reactorFindings(ctx),
          ...(await clusterFindings(ctx)),
          ...(await keyFindings(ctx)),
          ...fleetFindings(ctx),
          ...(await rolloverFindings(ctx)),
        ];
        return reported(found, all, ctx);
      },
    }),
    masters: masterFn({
      doc: 'Asks the real Salt minions for their settings that matter with several masters: which of them end, do not change masters, or lose results when a master dies.',
      examples: ['salt-run doctor.masters', 'salt-run doctor.masters all=True'],
      params: { all: p.bool({ default: false, doc: 'also checks that passed' }) },
      run: async ({ all }, ctx) => reported(await masterFindings(ctx), all, ctx),
    }),
  },
});
