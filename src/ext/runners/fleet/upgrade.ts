// `fleet.upgrade`: another version of the minion for many minions, a few at a time.
import { HaliteError, type MasterContext, masterFn, newDict, type PlainDict, p, type Value } from 'halite/sdk';
import type { Steps } from './agent.ts';
import { failedIn, Upgrade } from './engine.ts';
import { load, type MinionRecord, nameOf, newId, save, standings, type UpgradeRecord, upgrades } from './record.ts';

/** Upgrades that this process works on. */
const active = new Set<string>();
const mostMinions = 100_000;
const restartService =
  'if [ -d /run/systemd/system ]; then systemctl restart salt-minion; else /etc/init.d/salt-minion restart; fi';

/** `5`, or `10%` of all, at least one. */
function share(name: string, text: string, all: number, least: number): number {
  const percent = /^(\d{1,3})%$/.exec(text)?.[1];
  const number = percent === undefined ? Number(text) : Math.ceil((all * Number(percent)) / 100);
  if (!Number.isInteger(number) || number < 0)
    throw new HaliteError('call.arguments', `${name}=${text} is neither a number nor a percentage`);
  return Math.max(least, number);
}

const installers: readonly (readonly [RegExp, (file: string) => string])[] = [
  [/\.deb$/, (file) => `DEBIAN_FRONTEND=noninteractive dpkg --force-confold -i "${file}"`],
  [/\.rpm$/, (file) => `rpm -U --oldpackage --force "${file}"`],
  [/\.(tar\.xz|tar\.gz|tgz)$/, (file) => `tar -xf "${file}" -C "\${PREFIX:-/}"`],
];
/** Several packages that belong together; apt also removes those whose places they take. */
const together: readonly (readonly [RegExp, (folder: string) => string])[] = [
  [
    /\.deb$/,
    (folder) =>
      // An installation that was cut short has to be finished first.
      `export DEBIAN_FRONTEND=noninteractive; dpkg --force-confold --configure -a; apt-get install -y --no-install-recommends --allow-downgrades -o DPkg::Lock::Timeout=60 -o Dpkg::Options::=--force-confold "${folder}"/*.deb`,
  ],
  [/\.rpm$/, (folder) => `rpm -U --oldpackage --force "${folder}"/*.rpm`],
];

function commandFor(option: string, given: string, source: readonly string[], file: string): string {
  if (given !== '') return given;
  const known = (source.length > 1 ? together : installers).find(
    ([name]) => source.length > 0 && source.every((each) => name.test(each)),
  );
  if (known) return known[1](file);
  throw new HaliteError(
    'call.arguments',
    `Nothing says how to ${option === 'install' ? 'install the new' : 'bring back the old'} version`,
    {
      hint: `Name a package of salt:// that ends with .deb, .rpm or .tar.xz, or a command: ${option}='…'`,
    },
  );
}

const mostFiles = 20;

/** The files that were named: one, or a list. */
function filesOf(given: Value): string[] {
  const files = (Array.isArray(given) ? given : given === '' ? [] : [given]).map(String);
  for (const file of files)
    if (!/^salt:\/\/[\w./+~@-]+$/.test(file))
      throw new HaliteError('call.arguments', `${file} is not a file of the file server: salt://…`);
  if (files.length > mostFiles || new Set(files.map(nameOf)).size < files.length)
    throw new HaliteError('call.arguments', `At most ${mostFiles} packages, with different names`);
  return files;
}

interface Given {
  readonly target: Value;
  readonly tgt_type: string;
  readonly version: string;
  readonly canary: string;
  readonly batch: string;
  readonly package: Value;
  readonly old_package: Value;
  readonly install: string;
  readonly rollback: string;
  readonly restart: string;
  readonly state: string;
  readonly ask: string;
  readonly wait: number;
  readonly most_failed: string;
}

function planOf(ctx: MasterContext, given: Given): UpgradeRecord {
  const { target, version, wait } = given;
  if (version === '') throw new HaliteError('call.arguments', 'Say which version minions have afterwards: version=…');
  if (wait < 5 || wait > 3600) throw new HaliteError('call.arguments', 'wait is between 5 and 3600 seconds');
  const [source, oldSource] = [filesOf(given.package), filesOf(given.old_package)];
  const steps: Steps = {
    install: commandFor('install', given.install, source, '$PACKAGE'),
    rollback: commandFor('rollback', given.rollback, oldSource, '$OLD_PACKAGE'),
    restart: given.restart,
    wait,
  };
  const ids = ctx.master.fleet.match(target as string, given.tgt_type).sort();
  if (ids.length === 0) throw new HaliteError('target.empty', 'No minion matches the target');
  if (ids.length > mostMinions) throw new HaliteError('codec.limit', `More than ${mostMinions} minions match`);
  const canaries = Math.min(ids.length, share('canary', given.canary, ids.length, 1));
  const size = share('batch', given.batch, ids.length, 1);
  const groups = [ids.slice(0, canaries)];
  for (let at = canaries; at < ids.length; at += size) groups.push(ids.slice(at, at + size));
  const fresh = (): MinionRecord => ({ standing: 'waiting', from: '', why: '', folder: '', at: 0 });
  return {
    ...{ id: newId(), version, steps, groups, source, oldSource },
    ...{ state: given.state, ask: given.ask, mostFailed: share('most_failed', given.most_failed, ids.length, 0) },
    ...{
      result: 'running',
      minions: newDict(ids.map((id) => [id, fresh() as never])) as unknown as Record<string, MinionRecord>,
    },
  };
}

export function reportOf(record: UpgradeRecord): PlainDict {
  const { id, version, result, minions, groups } = record;
  const counts = newDict();
  for (const standing of standings) {
    const count = Object.values(minions).filter((each) => each.standing === standing).length;
    if (count > 0) counts[standing] = count;
  }
  const rows = groups.flat().map((minion): [string, Value] => {
    const { standing, from, why } = minions[minion]!;
    const text = standing === 'upgraded' ? `${from} -> ${version}` : why || from;
    return [minion, text === '' ? standing : `${standing}: ${text}`];
  });
  return newDict([
    ['upgrade', id],
    ['version', version],
    ['result', result],
    ['minions', counts],
    ['each', newDict(rows)],
  ]);
}

export const upgrade = masterFn({
  doc: 'Brings minions to another version, canaries first. A minion whose new version is not confirmed brings the old one back by itself.',
  examples: [
    "salt-run fleet.upgrade 'web*' version=halite.0.2.0 package='[salt://new/halite-runtime_0.2.0_amd64.deb, salt://new/halite-common_0.2.0_amd64.deb, salt://new/halite-minion_0.2.0_amd64.deb]' rollback='…'",
    "salt-run fleet.upgrade '*' version=3007.14 canary=5 batch=10% most_failed=2% install='apt-get install -y salt-minion=3007.14' rollback='apt-get install -y --allow-downgrades salt-minion=3006.27'",
    'salt-run fleet.upgrade resume=20261118T193513000Z',
  ],
  params: {
    target: p.oneOf(['string', 'list'], { default: '', doc: 'which minions' }),
    tgt_type: p.string({ default: 'glob', doc: 'how to read the target' }),
    version: p.string({ default: '', doc: 'a text that the answer of `ask` contains afterwards' }),
    canary: p.string({ default: '1', doc: 'how many first: a number, or a percentage' }),
    batch: p.string({ default: '10%', doc: 'how many at the same time then' }),
    package: p.oneOf(['string', 'list'], {
      default: '',
      doc: 'the new package on the file server, or a list of those that belong together; `$PACKAGE` in commands, with a list a folder',
    }),
    old_package: p.oneOf(['string', 'list'], {
      default: '',
      doc: 'the same of the old version, for the way back; `$OLD_PACKAGE` in commands',
    }),
    install: p.string({ default: '', doc: 'a command for the shell that installs; default by the kind of package' }),
    rollback: p.string({ default: '', doc: 'a command that brings the old version back' }),
    restart: p.string({ default: restartService, doc: 'a command that restarts the minion; default: of its service' }),
    state: p.string({ default: '', doc: 'an SLS that has to apply in test mode with the new version' }),
    ask: p.string({ default: 'test.version', doc: 'the function that tells the version' }),
    wait: p.int({ default: 180, doc: 'seconds in which the new version must be confirmed' }),
    most_failed: p.string({
      default: '0',
      doc: 'how many may fail before no further group is begun: a number, or a percentage',
    }),
    resume: p.string({
      default: '',
      doc: 'go on with this upgrade, after a restart of the master; `last` for the newest',
    }),
    dry_run: p.bool({ default: false, doc: 'only show groups and commands' }),
  },
  async run(args, ctx) {
    const { resume, dry_run } = args;
    const record =
      resume === '' ? planOf(ctx, args) : load(ctx, resume === 'last' ? (upgrades(ctx).at(-1) ?? '') : resume);
    if (dry_run)
      return newDict([
        ['install', record.steps.install],
        ['rollback', record.steps.rollback],
        ['restart', record.steps.restart],
        ['groups', record.groups.map((group) => [...group])],
      ]);
    if (active.has(record.id)) throw new HaliteError('call.failed', `The upgrade ${record.id} is under way`);
    if (record.result !== 'running')
      throw new HaliteError('call.failed', `The upgrade ${record.id} has ended: ${record.result}`);
    active.add(record.id);
    try {
      save(ctx, record);
      ctx.progress(
        `upgrade ${record.id}: ${record.groups.flat().length} minions, canaries: ${record.groups[0]?.join(', ')}`,
      );
      await new Upgrade(ctx, record, resume !== '').run();
    } finally {
      active.delete(record.id);
    }
    if (failedIn(record).length > 0) ctx.setRetcode(1);
    return reportOf(record);
  },
});
