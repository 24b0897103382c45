// Execution module `pkg`: packages of Debian and its derivatives.

import { join } from 'node:path';
import {
  cleanKwargs,
  commandNotFound,
  defineModule,
  dictGet,
  fn,
  isTrue,
  newDict,
  type PlainDict,
  p,
  textList,
  type Value,
} from 'halite/sdk';
import { compareText } from 'halite/sdk/codec';
import { readdirSync, statSync } from 'halite/sdk/fs';
import { askTool, runTool, which } from 'halite/sdk/system';
import { lines, matchesGlob, words } from 'halite/sdk/text';
import { callApt, offeredVersions, refreshDb } from './apt.ts';
import {
  changes,
  installedVersions,
  nameList,
  packageFileInfo,
  packageFiles,
  packageInfo,
  readPackages,
  versionTexts,
} from './dpkg.ts';
import { holdFunctions } from './hold.ts';
import { install, uninstall, upgrade } from './install.ts';
import { normalizeName, splitArchitecture } from './names.ts';
import { repoFunctions } from './repo-functions.ts';
import { latest, parseShow, upgrades, validTime } from './upgrades.ts';
import { compareVersions } from './versions.ts';

const names = p.rest({ doc: 'packages' });
const kwargs = p.kwargs();

const reading = {
  version: fn({
    doc: 'The installed version of a package, or empty text; a dictionary for several packages or a glob.',
    examples: ["salt '*' pkg.version <package name>", "salt '*' pkg.version <package1> <package2> <package3> ..."],
    params: { names, kwargs },
    async run(args, ctx) {
      const { installed, purgeDesired } = await readPackages(ctx);
      const all = new Map([...purgeDesired, ...installed]);
      const found = new Map<string, string[]>();
      let isGlob = false;
      for (const name of nameList(args.names)) {
        if (!name.includes('*')) found.set(name, all.get(name) ?? []);
        else {
          isGlob = true;
          for (const [key, versions] of all) if (matchesGlob(key, name)) found.set(key, versions);
        }
      }
      const inLists = isTrue(args.kwargs['versions_as_list'] ?? false);
      const value: PlainDict = inLists ? newDict([...found] as [string, Value][]) : versionTexts(found);
      return found.size === 1 && !isGlob ? (Object.values(value)[0] ?? '') : value;
    },
  }),
  list_pkgs: fn({
    doc: 'Installed packages and their versions.',
    examples: ["salt '*' pkg.list_pkgs", "salt '*' pkg.list_pkgs versions_as_list=True"],
    params: {
      versions_as_list: p.isTrue({ default: false }),
      removed: p.isTrue({ default: false, doc: 'removed packages whose configuration still exists' }),
      purge_desired: p.isTrue({ default: false, doc: 'packages selected for purge that are still installed' }),
      kwargs,
    },
    async run(args, ctx) {
      const { installed, removed, purgeDesired } = await readPackages(ctx);
      const list = args.removed
        ? removed
        : args.purge_desired
          ? purgeDesired
          : new Map([...purgeDesired, ...installed]);
      return args.versions_as_list ? newDict([...list] as [string, Value][]) : versionTexts(list);
    },
  }),
  latest_version: fn({
    doc: 'The version that would be installed; empty text when the package is up to date. refresh=False does not refresh the lists.',
    examples: [
      "salt '*' pkg.latest_version <package name>",
      "salt '*' pkg.latest_version <package name> fromrepo=unstable",
    ],
    params: { names, kwargs: p.kwargs({ doc: 'refresh, show_installed, fromrepo, cache_valid_time' }) },
    run: latest,
  }),
  upgrade_available: fn({
    doc: 'Whether there is a newer version of a package.',
    examples: ["salt '*' pkg.upgrade_available <package name>"],
    params: { name: p.string(), kwargs },
    run: async (args, ctx) => (await latest({ names: [args.name], kwargs: newDict() }, ctx)) !== '',
  }),
  list_upgrades: fn({
    doc: 'Packages with a newer version, and that version.',
    examples: ["salt '*' pkg.list_upgrades"],
    params: { refresh: p.isTrue({ default: true }), dist_upgrade: p.bool({ default: true }), kwargs },
    async run(args, ctx) {
      const options = cleanKwargs(args.kwargs);
      if (args.refresh) await refreshDb(ctx, validTime(options));
      return upgrades(args.dist_upgrade, options, ctx);
    },
  }),
  version_cmp: fn({
    doc: 'Compares two versions: -1, 0 or 1.',
    examples: ["salt '*' pkg.version_cmp '0.2.4-0ubuntu1' '0.2.4.1-0ubuntu1'"],
    params: { pkg1: p.string(), pkg2: p.string(), ignore_epoch: p.bool({ default: false }), kwargs },
    inline: true,
    run(args) {
      const bare = (version: string): string => (args.ignore_epoch ? version.replace(/^[^:]*:/, '') : version);
      return compareVersions(bare(args.pkg1), bare(args.pkg2));
    },
  }),
  list_repo_pkgs: fn({
    doc: 'Available versions in the repositories, by package.',
    examples: ["salt '*' pkg.list_repo_pkgs foo bar baz"],
    params: { args: names, kwargs },
    run: async (args, ctx) => newDict([...(await offeredVersions(nameList(args.args), ctx))] as [string, Value][]),
  }),
  show: fn({
    doc: 'Details of packages in the repositories, by name and version.',
    examples: ['salt myminion pkg.show gawk', "salt myminion pkg.show 'nginx-*' filter=description,provides"],
    params: { names, kwargs: p.kwargs({ doc: 'refresh, filter' }) },
    async run(args, ctx) {
      const options = cleanKwargs(args.kwargs);
      if (options['refresh']) await refreshDb(ctx);
      if (args.names.length === 0) return newDict();
      const { retcode, stdout } = await callApt(ctx, ['apt-cache', 'show', '--', ...nameList(args.names)]);
      ctx.setRetcode(retcode);
      return parseShow(
        stdout,
        textList(options['filter'] ?? []).map((field) => field.toLowerCase()),
      );
    },
  }),
  info_installed: fn({
    doc: 'Details of installed packages.',
    examples: ["salt '*' pkg.info_installed <package1> <package2> ..."],
    params: { names, kwargs: p.kwargs({ doc: 'failhard' }) },
    run: (args, ctx) => packageInfo(nameList(args.names), isTrue(args.kwargs['failhard'] ?? true), ctx),
  }),
  file_list: fn({
    doc: 'Files of installed packages.',
    examples: ["salt '*' pkg.file_list httpd postfix"],
    params: { packages: names, kwargs },
    async run(args, ctx) {
      const found = await packageFiles(nameList(args.packages), ctx);
      if (typeof found === 'string') return found;
      return newDict([
        ['errors', []],
        ['files', [...new Set([...found.values()].flat())].sort(compareText)],
      ]);
    },
  }),
  file_dict: fn({
    doc: 'Files of installed packages, by package.',
    examples: ["salt '*' pkg.file_dict httpd postfix"],
    params: { packages: names, kwargs },
    async run(args, ctx) {
      const found = await packageFiles(nameList(args.packages), ctx);
      return typeof found === 'string'
        ? found
        : newDict([
            ['errors', []],
            ['packages', newDict([...found] as [string, Value][])],
          ]);
    },
  }),
  owner: fn({
    doc: 'The package a file belongs to, or empty text.',
    examples: ["salt '*' pkg.owner /usr/bin/apachectl"],
    params: { paths: p.rest(), kwargs },
    async run(args, ctx) {
      const found = newDict();
      for (const path of nameList(args.paths)) {
        const { stdout } = await runTool(ctx, 'dpkg', ['-S', '--', path]);
        found[path] = stdout.split(':')[0]?.trim() ?? '';
      }
      const values = Object.values(found);
      return values.length === 0 ? '' : values.length === 1 ? (values[0] as Value) : found;
    },
  }),
  list_downloaded: fn({
    doc: 'Package files in apt’s cache.',
    examples: ["salt '*' pkg.list_downloaded"],
    params: { root: p.string({ default: null }), kwargs },
    async run(args, ctx) {
      const folder = join(args.root ?? '/', 'var/cache/apt');
      const found = newDict();
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !entry.name.endsWith('.deb')) continue;
        const path = join(entry.parentPath, entry.name);
        const [info, stats] = [await packageFileInfo(path, ctx), statSync(path)];
        const created = Math.floor(stats.ctimeMs / 1000);
        found[info.name] ??= newDict();
        const versions = found[info.name] as PlainDict;
        versions[info.version] = newDict([
          ['path', path],
          ['size', stats.size],
          ['creation_date_time_t', created],
          ['creation_date_time', new Date(created * 1000).toISOString().slice(0, 19)],
        ]);
      }
      return found;
    },
  }),
  normalize_name: fn({
    doc: 'A package name without the machine’s own architecture.',
    examples: ["salt '*' pkg.normalize_name zsh:amd64"],
    params: { name: p.string() },
    inline: true,
    run: (args, ctx) => normalizeName(args.name, ctx.grains),
  }),
  parse_arch: fn({
    doc: 'Name and architecture of a package name.',
    examples: ["salt '*' pkg.parse_arch zsh:amd64"],
    params: { name: p.string() },
    inline: true,
    run: (args) => newDict(Object.entries(splitArchitecture(args.name))),
  }),
  services_need_restart: fn({
    doc: 'Services that use replaced files; needs checkrestart (debian-goodies).',
    examples: ["salt '*' pkg.services_need_restart"],
    params: { kwargs },
    async run(_, ctx) {
      if (!which('checkrestart')) {
        throw commandNotFound(
          "'checkrestart' is needed. It is part of the 'debian-goodies' package which can be installed from official repositories.",
        );
      }
      const { stdout } = await askTool(ctx, 'checkrestart', ['--machine', '--package']);
      const found = lines(stdout).flatMap((line) => /^SERVICE:([^,]*)/.exec(line)?.[1] ?? []);
      return [...new Set(found)];
    },
  }),
};

const writing = {
  refresh_db: fn({
    doc: 'Fetches the lists of the repositories: True for fetched, None for unchanged, False for failed.',
    examples: ["salt '*' pkg.refresh_db"],
    params: {
      cache_valid_time: p.float({ default: 0, doc: 'do nothing when the lists are newer than this many seconds' }),
      failhard: p.isTrue({ default: false, doc: 'fail when one repository fails' }),
      kwargs,
    },
    run: (args, ctx) => refreshDb(ctx, args.cache_valid_time, args.failhard),
  }),
  install: fn({
    doc: 'Installs packages and returns what changed.',
    examples: [
      "salt '*' pkg.install <package name>",
      `salt '*' pkg.install pkgs='["foo", {"bar": "1.2.3-0ubuntu0"}]'`,
      `salt '*' pkg.install sources='[{"foo": "salt://foo.deb"}]'`,
    ],
    params: {
      name: p.string({ default: null, doc: 'one package, or several with commas' }),
      refresh: p.isTrue({ default: false, doc: 'fetch the lists first' }),
      fromrepo: p.string({ default: null, doc: 'release to install from' }),
      skip_verify: p.bool({ default: false, doc: 'allow unsigned packages' }),
      debconf: p.string({ default: null, doc: 'file of answers' }),
      pkgs: p.oneOf(['string', 'list', 'dict'], {
        default: null,
        doc: 'list of names, or of names with versions (also `>=1.2`)',
      }),
      sources: p.oneOf(['string', 'list', 'dict'], { default: null, doc: 'list of names with package files' }),
      reinstall: p.bool({ default: false }),
      downloadonly: p.bool({ default: false }),
      ignore_epoch: p.bool({ default: false }),
      normalize: p.bool({ default: true }),
      kwargs: p.kwargs({
        doc: 'version, install_recommends, only_upgrade, force_conf_new, force_yes, cache_valid_time, env, split_arch',
      }),
    },
    run: (args, ctx) => install({ ...args, kwargs: cleanKwargs(args.kwargs) }, ctx),
  }),
  remove: fn({
    doc: 'Removes packages and returns what changed.',
    examples: ["salt '*' pkg.remove <package name>", `salt '*' pkg.remove pkgs='["foo", "bar"]'`],
    params: { name: p.string({ default: null }), pkgs: p.oneOf(['string', 'list', 'dict'], { default: null }), kwargs },
    run: (args, ctx) => uninstall('remove', args, ctx),
  }),
  purge: fn({
    doc: 'Removes packages with their configuration and returns what changed.',
    examples: ["salt '*' pkg.purge <package name>"],
    params: { name: p.string({ default: null }), pkgs: p.oneOf(['string', 'list', 'dict'], { default: null }), kwargs },
    run: (args, ctx) => uninstall('purge', args, ctx),
  }),
  autoremove: fn({
    doc: 'Removes packages that are no longer needed; with list_only only lists them.',
    examples: ["salt '*' pkg.autoremove list_only=True"],
    params: { list_only: p.bool({ default: false }), purge: p.bool({ default: false }) },
    async run(args, ctx) {
      const purge = args.purge ? ['--purge'] : [];
      if (args.list_only) {
        const { stdout } = await callApt(ctx, ['apt-get', '--assume-no', ...purge, 'autoremove']);
        const block = /The following packages will be REMOVED:\n((?: .*\n?)*)/.exec(stdout)?.[1] ?? '';
        return words(block).sort(compareText);
      }
      const old = await installedVersions(ctx);
      await callApt(ctx, ['apt-get', '--assume-yes', ...purge, 'autoremove'], { scope: true });
      return changes(old, await installedVersions(ctx));
    },
  }),
  upgrade: fn({
    doc: 'Upgrades all packages and returns what changed.',
    examples: ["salt '*' pkg.upgrade"],
    params: {
      refresh: p.isTrue({ default: true }),
      dist_upgrade: p.bool({ default: false, doc: 'also install and remove packages where needed' }),
      kwargs: p.kwargs({ doc: 'cache_valid_time, download_only, force_conf_new, allow_downgrades, skip_verify' }),
    },
    async run(args, ctx) {
      const options = cleanKwargs(args.kwargs);
      if (args.refresh) await refreshDb(ctx, validTime(options));
      return upgrade(args.dist_upgrade, options, ctx);
    },
  }),
};

export default defineModule({
  name: 'aptpkg',
  virtualName: 'pkg',
  doc: 'Packages of Debian, Ubuntu and their derivatives.',
  available: ({ grains }) =>
    dictGet(grains, 'os_family') === 'Debian' || 'The pkg module could not be loaded: unsupported OS family',
  reads: [
    'version',
    'list_pkgs',
    'latest_version',
    'upgrade_available',
    'list_upgrades',
    'version_cmp',
    'list_repo_pkgs',
    'show',
    'info_installed',
    'file_list',
    'file_dict',
    'owner',
    'list_downloaded',
    'normalize_name',
    'parse_arch',
    'services_need_restart',
    'get_selections',
    'list_repos',
    'get_repo',
  ],
  functions: { ...reading, ...writing, ...holdFunctions, ...repoFunctions },
  aliases: { available_version: 'latest_version' },
});
