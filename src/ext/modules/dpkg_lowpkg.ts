// Execution module `lowpkg` of Debian's family: packages in dpkg's database, without apt.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: dpkg-query has its own placeholders, which look like templates
import {
  cleanKwargs,
  commandError,
  defineModule,
  dictGet,
  fn,
  invocationError,
  isTruthy,
  newDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { pathExists } from 'halite/sdk/fs';
import { askTool, runTool } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';
import { changes, nameList, packageFileInfo, packageRecords, readPackages, versionTexts } from './aptpkg/dpkg.ts';

const packages = p.rest({ doc: 'names of packages; all unless given' });
const kwargs = p.kwargs();
/** The same answer as `pkg`, which also queries dpkg. */
const asPkg = (doc: string, name: string) =>
  fn({
    doc,
    examples: [`salt '*' lowpkg.${name} httpd`],
    params: { packages, kwargs },
    run: (args, ctx) => ctx.call(`pkg.${name}`, ...args.packages),
  });

export default defineModule({
  name: 'dpkg_lowpkg',
  virtualName: 'lowpkg',
  doc: 'Packages in the database of dpkg.',
  available: ({ grains }) =>
    dictGet(grains, 'os_family') === 'Debian' ||
    'The dpkg execution module cannot be loaded: only works on Debian family systems.',
  reads: ['bin_pkg_info', 'list_pkgs', 'file_list', 'file_dict', 'info'],
  functions: {
    bin_pkg_info: fn({
      doc: 'Name, version and architecture of a package file.',
      examples: ["salt '*' lowpkg.bin_pkg_info /root/foo-1.2.3-1ubuntu1_all.deb"],
      params: { path: p.path(), saltenv: p.string({ default: 'base', doc: 'environment of salt:// paths' }) },
      async run({ path, saltenv }, ctx) {
        let file = path;
        if (isTruthy(await ctx.call('config.valid_fileproto', path))) {
          const cached = await ctx.call('cp.cache_file', path, saltenv);
          if (!cached) throw commandError(`Unable to retrieve ${path} from saltenv '${saltenv}'`);
          file = pyStr(cached);
        } else if (!pathExists(path)) throw commandError(`${path} does not exist on minion`);
        return newDict(Object.entries(await packageFileInfo(file, ctx)));
      },
    }),
    list_pkgs: fn({
      doc: 'Installed packages and their versions.',
      examples: ["salt '*' lowpkg.list_pkgs", "salt '*' lowpkg.list_pkgs httpd"],
      params: { packages, kwargs },
      async run(args, ctx): Promise<Value> {
        const format = '-f=${db:Status-Status}\t${binary:Package}\t${Version}\n';
        const { retcode, stdout, stderr } = await runTool(ctx, 'dpkg-query', [
          format,
          '-W',
          ...nameList(args.packages),
        ]);
        if (retcode !== 0) return `Error:  ${stderr.trim()}`;
        const rows = lines(stdout).map((line) => line.split('\t'));
        return newDict(rows.flatMap(([status, name, version]) => (status === 'installed' ? [[name!, version!]] : [])));
      },
    }),
    file_list: asPkg('Files of installed packages.', 'file_list'),
    file_dict: asPkg('Files of installed packages, by package.', 'file_dict'),
    info: fn({
      doc: 'Details of packages, under dpkg’s own names.',
      examples: ["salt '*' lowpkg.info", "salt '*' lowpkg.info apache2 bash"],
      params: { packages, kwargs: p.kwargs({ doc: 'failhard' }) },
      async run(args, ctx) {
        const { failhard = true, ...others } = cleanKwargs(args.kwargs);
        const unknown = Object.entries(others).map(([key, value]) => `${key}=${pyStr(value)}`);
        if (unknown.length > 0)
          throw invocationError(`The following keyword arguments are not valid: ${unknown.join(', ')}`);
        const found = await packageRecords(nameList(args.packages), isTruthy(failhard), ctx);
        return newDict(found.map((record) => [pyStr(record['package'] ?? ''), record]));
      },
    }),
    unpurge: fn({
      doc: 'Cancels the purge of packages.',
      examples: ["salt '*' lowpkg.unpurge curl"],
      params: { packages },
      async run(args, ctx) {
        if (args.packages.length === 0) return newDict();
        const wanted = async () => versionTexts((await readPackages(ctx)).purgeDesired);
        const before = await wanted();
        const input = nameList(args.packages)
          .map((name) => `${name} install\n`)
          .join('');
        await askTool(ctx, 'dpkg', ['--set-selections'], { input });
        return changes(before, await wanted());
      },
    }),
  },
});
