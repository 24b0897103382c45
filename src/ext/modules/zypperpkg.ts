// Execution module `pkg`: packages of SUSE, with zypper.
import {
  commandError,
  defineModule,
  dictGet,
  fn,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  textList,
  type Value,
} from 'halite/sdk';
import { requireTool, which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';
import { setHolds } from './shared/pkg-holds.ts';
import { type RpmPackage, resolveName } from './shared/rpm.ts';
import { type RpmDriver, readingPackages, rpmFunctions } from './shared/rpm-functions.ts';
import { repoFunctions } from './shared/rpm-repos.ts';

/** Zypper's own return codes that mean no failure: patches, a restart needed, no repositories. */
const harmless = [0, 6, 100, 101, 102, 103, 106];

async function zypper(args: readonly string[], ctx: ModuleContext) {
  const said = await ctx.exec(requireTool('zypper'), ['--non-interactive', ...args], {
    env: { LC_ALL: 'C', LANGUAGE: 'C' },
  });
  if (said.retcode === 7)
    throw commandError('Zypper command failure: the package manager is locked by another process');
  return { ...said, retcode: harmless.includes(said.retcode) ? 0 : said.retcode };
}

/** Attributes of one element of XML. */
const attributes = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [
      key,
      value.replace(
        /&(lt|gt|quot|apos|amp);/g,
        (_, name: string) => ({ lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' })[name] ?? '',
      ),
    ]),
  );

/** `<solvable name= edition= arch= …/>` or `<update …/>`. */
export function parseSolvables(
  xml: string,
  element: 'solvable' | 'update',
  ctx: Pick<ModuleContext, 'grains'>,
): RpmPackage[] {
  return [...xml.matchAll(new RegExp(`<${element}\\s([^>]*)>`, 'g'))].flatMap(([, inner = '']) => {
    const { name, edition, arch = 'noarch', kind = 'package' } = attributes(inner);
    return name === undefined || edition === undefined || kind !== 'package'
      ? []
      : [{ name: resolveName(name, arch, ctx.grains), version: edition.replace(/^0:/, ''), arch }];
  });
}

const fromRepo = (options: PlainDict): string[] =>
  options['fromrepo'] ? textList(options['fromrepo']).flatMap((repo) => ['--repo', repo]) : [];

const driver: RpmDriver = {
  run: zypper,
  async refresh(ctx) {
    const { retcode, stdout, stderr } = await zypper(['refresh', '--force'], ctx);
    if (retcode !== 0) throw commandError(`Zypper command failure: ${(stderr || stdout).trim()}`);
    const found = newDict();
    for (const line of lines(stdout)) {
      const [, name, state] = /^Repository '(.+)' is (up to date|refreshed)/i.exec(line) ?? [];
      const other = /(?:Building repository|Retrieving repository) '(.+?)' /.exec(line)?.[1];
      if (name !== undefined) found[name] = state?.toLowerCase() !== 'up to date';
      else if (other !== undefined) found[other] = true;
    }
    return found;
  },
  async offered(names, options, ctx) {
    const args = [
      '--xmlout',
      '--no-refresh',
      'search',
      '--details',
      '--match-exact',
      '--type',
      'package',
      ...fromRepo(options),
    ];
    return parseSolvables((await zypper([...args, ...names], ctx)).stdout, 'solvable', ctx);
  },
  async upgrades(options, ctx) {
    return parseSolvables(
      (await zypper(['--xmlout', '--no-refresh', 'list-updates', ...fromRepo(options)], ctx)).stdout,
      'update',
      ctx,
    );
  },
  install: (targets, options) => [
    ...(options['skip_verify'] ? ['--no-gpg-checks'] : []),
    'install',
    '--auto-agree-with-licenses',
    '--name',
    ...(options['downloadonly'] ? ['--download-only'] : []),
    ...(options['no_recommends'] || options['install_recommends'] === false ? ['--no-recommends'] : []),
    ...fromRepo(options).map((word) => (word === '--repo' ? '--from' : word)),
    ...targets,
  ],
  downgrade: (targets) => ['install', '--auto-agree-with-licenses', '--oldpackage', '--name', ...targets],
  remove: (names) => ['remove', ...names],
  upgrade: (options) => [
    options['dist_upgrade'] ? 'dist-upgrade' : 'update',
    '--auto-agree-with-licenses',
    ...fromRepo(options),
  ],
  word: (name, version) => `${name}=${version.replace(/^0:/, '')}`,
};

/** `Name : zsh` lines of `zypper info`, by package. */
export function parseInfo(text: string): PlainDict {
  const found = newDict();
  for (const block of text.split(/^Information for package\b/m)) {
    const about = newDict(
      lines(block).flatMap((line): [string, Value][] => {
        const [, key = '', value = ''] = /^([A-Za-z][^:]*?)\s*:\s*(.*)$/.exec(line) ?? [];
        return key === '' || value.trim() === '' ? [] : [[key.toLowerCase(), value.trim()]];
      }),
    );
    const { name, ...rest } = about;
    if (name === undefined) continue;
    if (rest['installed'] !== undefined) rest['installed'] = pyStr(rest['installed']).toLowerCase().startsWith('yes');
    found[pyStr(name)] = newDict(Object.entries(rest));
  }
  return found;
}

const lockParams = {
  name: p.string({ default: null, doc: 'the package' }),
  pkgs: p.oneOf(['list', 'string'], { default: null, doc: 'several packages' }),
  kwargs: p.kwargs({ doc: 'no effect' }),
};
const lockNames = (args: { name: Value; pkgs: Value }): string[] =>
  Array.isArray(args.pkgs) ? args.pkgs.map(pyStr) : args.name === null ? [] : pyStr(args.name).split(',');

async function locks(ctx: ModuleContext): Promise<string[]> {
  const { stdout } = await zypper(['--no-refresh', 'locks'], ctx);
  return lines(stdout).flatMap((line) => /^\s*\d+\s*\|\s*(\S+)\s*\|/.exec(line)?.[1] ?? []);
}

const lock = async (name: string, hold: boolean, ctx: ModuleContext): Promise<boolean> =>
  (await zypper([hold ? 'addlock' : 'removelock', name], ctx)).retcode === 0;

const locking = (hold: boolean, example: string, doc: string) =>
  fn({
    doc,
    examples: [`salt '*' pkg.${example} <package name>`],
    params: lockParams,
    reads: (_, ctx) => ctx.test,
    run: (args, ctx) => setHolds({ locked: locks, lock }, lockNames(args), hold, ctx),
  });

export default defineModule({
  name: 'zypperpkg',
  virtualName: 'pkg',
  doc: 'Packages of SUSE, with zypper.',
  available: ({ grains }) => {
    if (dictGet(grains, 'os_family') !== 'Suse')
      return 'Module zypper: non SUSE OS not supported by zypper package manager';
    return which('zypper') !== null || 'Module zypper: zypper package manager not found';
  },
  reads: [...readingPackages, 'info_available', 'list_locks'],
  functions: {
    ...rpmFunctions(driver),
    ...repoFunctions(['/etc/zypp/repos.d']),
    info_available: fn({
      doc: 'Details of packages in the repositories.',
      examples: ["salt '*' pkg.info_available <package1> <package2>"],
      params: { names: p.rest({ doc: 'packages' }), kwargs: p.kwargs({ doc: 'refresh' }) },
      async run(args, ctx) {
        if (args.names.length === 0) return newDict();
        if (args.kwargs['refresh'] !== false) await driver.refresh(ctx);
        const names = [...new Set(args.names.map(pyStr))].sort();
        return parseInfo((await zypper(['--no-refresh', 'info', '-t', 'package', ...names], ctx)).stdout);
      },
    }),
    hold: locking(true, 'hold', 'Keeps packages at their version.'),
    unhold: locking(false, 'unhold', 'Lets packages change their version again.'),
    list_holds: fn({
      doc: 'Held packages.',
      examples: ["salt '*' pkg.list_holds"],
      params: { kwargs: p.kwargs({ doc: 'no effect' }) },
      run: (_args, ctx) => locks(ctx),
    }),
    list_locks: fn({
      doc: 'Held packages, by name.',
      examples: ["salt '*' pkg.list_locks"],
      params: { root: p.ignored({ default: null, doc: 'no effect' }) },
      run: async (_args, ctx) => newDict((await locks(ctx)).map((name) => [name, newDict([['type', 'package']])])),
    }),
  },
  aliases: { available_version: 'latest_version', list_updates: 'list_upgrades' },
});
