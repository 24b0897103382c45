// Execution module `pkg`: packages of Red Hat and its derivatives, with dnf or yum.
import {
  commandError,
  defineModule,
  dictGet,
  fn,
  isDict,
  type ModuleContext,
  newDict,
  oneOrMore,
  type PlainDict,
  p,
  pyStr,
  textList,
  type Value,
} from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';
import { setHolds } from './shared/pkg-holds.ts';
import { type RpmPackage, resolveName } from './shared/rpm.ts';
import { columns, type RpmDriver, readingPackages, rpmFunctions } from './shared/rpm-functions.ts';
import { repoFunctions } from './shared/rpm-repos.ts';

const tools = ['dnf5', 'dnf', 'yum'];
const toolName = (): string | undefined => tools.find((name) => which(name) !== null);

async function yum(args: readonly string[], ctx: ModuleContext) {
  const name = toolName();
  if (name === undefined) throw commandError('DNF nor YUM found');
  return ctx.exec(which(name) as string, args, { env: { LC_ALL: 'C', LANGUAGE: 'C' } });
}

/** `fromrepo`, `enablerepo`, … as options of the tool. */
function repoOptions(given: PlainDict): string[] {
  const { fromrepo, repo, enablerepo, disablerepo, disableexcludes, branch, setopt } = given as Partial<
    Record<string, Value>
  >;
  const only = fromrepo || repo;
  const named = only
    ? ['--disablerepo=*', `--enablerepo=${pyStr(only)}`]
    : [
        ...(disablerepo ? [`--disablerepo=${textList(disablerepo).join(',')}`] : []),
        ...(enablerepo ? [`--enablerepo=${textList(enablerepo).join(',')}`] : []),
      ];
  return [
    ...named,
    ...(disableexcludes ? [`--disableexcludes=${pyStr(disableexcludes)}`] : []),
    ...(branch ? [`--branch=${pyStr(branch)}`] : []),
    ...(setopt ? textList(setopt).flatMap((one) => ['--setopt', one]) : []),
  ];
}

/** `zsh.x86_64  5.8-9.el9  baseos`: three words each, which may be on several lines; headers are left out. */
export function parseList(text: string, ctx: Pick<ModuleContext, 'grains'>): RpmPackage[] {
  const body = lines(text).filter(
    (line) => !/^(?:\S+ Packages|Available Upgrades|Updating |Last metadata|Loaded plugins|Obsoleting )/i.test(line),
  );
  const words = columns(body.join('\n')).flat();
  const found: RpmPackage[] = [];
  for (let i = 0; i + 2 < words.length; i += 3) {
    const [whole = '', version = ''] = [words[i], words[i + 1]];
    const at = whole.lastIndexOf('.');
    const [name, arch] = at > 0 ? [whole.slice(0, at), whole.slice(at + 1)] : [whole, 'noarch'];
    found.push({
      name: resolveName(name, arch, ctx.grains),
      arch,
      version: version.replace(/-$/, '').replace(/^0:/, ''),
    });
  }
  return found;
}

const driver: RpmDriver = {
  run: yum,
  async refresh(ctx) {
    await yum(['--quiet', '--assumeyes', 'clean', 'expire-cache'], ctx);
    // Exit code 100 means that upgrades are available.
    const { retcode } = await yum(
      ['--quiet', '--assumeyes', 'check-update', '--setopt=autocheck_running_kernel=false'],
      ctx,
    );
    return retcode === 0 ? true : retcode === 100 ? true : retcode === 1 ? false : null;
  },
  async offered(names, options, ctx) {
    const { retcode, stdout } = await yum(
      ['--quiet', ...repoOptions(options), 'list', '--showduplicates', 'available', ...names],
      ctx,
    );
    return retcode === 0 ? parseList(stdout, ctx) : [];
  },
  async upgrades(options, ctx) {
    const word = toolName() === 'yum' ? 'updates' : '--upgrades';
    const { stdout } = await yum(['--quiet', ...repoOptions(options), 'list', word], ctx);
    return parseList(stdout, ctx);
  },
  install: (targets, options) => [
    '-y',
    ...repoOptions(options),
    ...(options['skip_verify'] ? ['--nogpgcheck'] : []),
    ...(options['downloadonly'] ? ['--downloadonly'] : []),
    ...(options['install_recommends'] === false ? ['--setopt=install_weak_deps=False'] : []),
    options['reinstall'] ? 'reinstall' : 'install',
    ...targets,
  ],
  downgrade: (targets, options) => ['-y', ...repoOptions(options), 'downgrade', ...targets],
  remove: (names, options) => ['-y', ...repoOptions(options), 'remove', ...names],
  upgrade: (options) => [
    '--quiet',
    '-y',
    ...repoOptions(options),
    ...(options['security'] ? ['--security'] : []),
    options['minimal'] ? 'upgrade-minimal' : 'upgrade',
    ...(options['name'] ? [pyStr(options['name'])] : []),
  ],
  word: (name, version) => `${name}-${version.replace(/^0:/, '')}`,
};

/** Names of held packages. */
async function locked(ctx: ModuleContext): Promise<string[]> {
  const { stdout } = await yum(['--quiet', 'versionlock', 'list'], ctx);
  return [
    ...new Set(
      lines(stdout).flatMap((line) => /^(?:\d+:)?(.+?)-(?:\d+:)?[^-]+-[^-]+(?:\.\*)?$/.exec(line.trim())?.[1] ?? []),
    ),
  ];
}

const lock = async (name: string, hold: boolean, ctx: ModuleContext): Promise<boolean> =>
  (await yum(['-q', 'versionlock', hold ? 'add' : 'delete', name], ctx)).retcode === 0;

const holding = (verb: 'add' | 'delete', example: string, doc: string) =>
  fn({
    doc,
    examples: [`salt '*' pkg.${example} <package name>`],
    params: {
      name: p.string({ default: null, doc: 'the package' }),
      pkgs: p.oneOf(['string', 'list', 'dict'], { default: null, doc: 'several packages' }),
      sources: p.oneOf(['string', 'list', 'dict'], { default: null, doc: 'several packages with their files' }),
      normalize: p.bool({ default: true, doc: 'no effect' }),
      kwargs: p.kwargs({ doc: 'no effect' }),
    },
    reads: (_, ctx) => ctx.test,
    async run(args, ctx) {
      const list = args.pkgs ?? args.sources ?? (args.name === null ? [] : [args.name]);
      const names = oneOrMore(list).flatMap((item) => (isDict(item) ? Object.keys(item) : [pyStr(item)]));
      return setHolds({ locked, lock }, names, verb === 'add', ctx);
    },
  });

export default defineModule({
  name: 'yumpkg',
  virtualName: 'pkg',
  doc: 'Packages of Red Hat and its derivatives, with dnf or yum.',
  available: ({ grains }) => {
    const [family, os] = [dictGet(grains, 'os_family'), pyStr(dictGet(grains, 'os') ?? '').toLowerCase()];
    if (family !== 'RedHat' && !['amazon', 'openeuler', 'virtuozzo', 'xcp'].includes(os))
      return 'Module yumpkg: no yum based system detected';
    return toolName() !== undefined || 'DNF nor YUM found';
  },
  reads: [...readingPackages, 'group_list'],
  functions: {
    ...rpmFunctions(driver),
    ...repoFunctions(['/etc/yum.repos.d', '/etc/yum/repos.d']),
    hold: holding('add', 'hold', 'Keeps packages at their version; needs the plugin versionlock.'),
    unhold: holding('delete', 'unhold', 'Lets packages change their version again.'),
    list_holds: fn({
      doc: 'Held packages.',
      examples: ["salt '*' pkg.list_holds"],
      params: {
        pattern: p.ignored({ default: null, doc: 'no effect' }),
        full: p.bool({ default: true, doc: 'no effect' }),
      },
      run: (_args, ctx) => locked(ctx),
    }),
    group_list: fn({
      doc: 'Groups of packages, by kind.',
      examples: ["salt '*' pkg.group_list"],
      params: {},
      async run(_args, ctx) {
        const found = newDict(
          ['installed', 'available', 'installed environments', 'available environments'].map((kind) => [kind, []]),
        );
        const kinds: [RegExp, string][] = [
          [/^Installed (?:Environment|language)/i, 'installed environments'],
          [/^Available Environment/i, 'available environments'],
          [/^Installed Groups/i, 'installed'],
          [/^Available Groups/i, 'available'],
        ];
        let current = '';
        for (const line of lines((await yum(['-v', 'grouplist'], ctx)).stdout)) {
          const head = kinds.find(([pattern]) => pattern.test(line))?.[1];
          if (head !== undefined) current = head;
          else if (current !== '' && /^\s+\S/.test(line))
            found[current] = [
              ...((found[current] as Value[] | undefined) ?? []),
              line.trim().replace(/\s+\([^()]*\)$/, ''),
            ];
        }
        return found;
      },
    }),
    group_install: fn({
      doc: 'Installs groups of packages and returns what changed.',
      examples: ["salt '*' pkg.group_install 'Development Tools'"],
      params: { name: p.strings({ split: ',', doc: 'one group, or several' }), kwargs: p.kwargs({ doc: 'no effect' }) },
      run: (args, ctx) => {
        const groups = Array.isArray(args.name) ? args.name : [pyStr(args.name)];
        return ctx.callWith('pkg.install', [], { pkgs: groups.map((group) => `@${group}`) });
      },
    }),
  },
  aliases: { available_version: 'latest_version', list_updates: 'list_upgrades', groupinstall: 'group_install' },
});
