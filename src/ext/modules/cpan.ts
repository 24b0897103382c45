// Execution module `cpan`: modules of Perl.

import { join } from 'node:path';
import { defineModule, fn, type ModuleContext, newDict, type PlainDict, p, type Value } from 'halite/sdk';
import { listDir, readFileSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';
import { command } from './shared/command.ts';

/** The output of cpan on both streams. */
async function cpan(args: readonly string[], ctx: ModuleContext): Promise<string> {
  const { stdout, stderr } = await command(ctx, ['cpan', ...args]);
  return [stdout, stderr].filter(Boolean).join('\n');
}

async function settings(ctx: ModuleContext): Promise<PlainDict> {
  const found = newDict();
  for (const line of lines(await cpan(['-J'], ctx))) {
    const [key, value] = line.split('=>');
    if (value !== undefined) found[(key ?? '').replaceAll("'", '').trim()] = value.replaceAll(/',|'/g, '').trim();
  }
  return found;
}

/** The six or seven lines after the dashes: description, path and versions of the module. */
async function about(module: string, ctx: ModuleContext): Promise<PlainDict> {
  const said = lines(await cpan(['-D', module], ctx));
  const rule = said.findIndex((line) => line.startsWith('-------------'));
  const info = rule < 0 ? [] : said.slice(rule + 1).filter((line) => !line.startsWith('-------------'));
  const found = newDict([['name', module]]);
  if (info.length === 6) info.splice(2, 0, '');
  if (info.length < 6) {
    found['error'] = 'This package does not seem to exist';
    return found;
  }
  const cell = (index: number): string => (info[index] ?? '').trim();
  const behind = (index: number): string => (info[index]?.split(':')[1] ?? '').trim();
  Object.assign(found, {
    description: cell(0),
    'cpan file': cell(1),
    'installed file': cell(2) || null,
    'installed version': behind(3) || null,
    'cpan version': words(behind(4))[0] ?? '',
    'author name': cell(5),
    'author email': cell(6),
  });
  const folder = (await settings(ctx))['build_dir'];
  if (typeof folder === 'string') {
    const prefix = module.replaceAll('::', '-');
    found['cpan build dirs'] = listDir(folder)
      .filter((name) => name.startsWith(prefix))
      .map((name) => join(folder, name));
  }
  return found;
}

/** The files that a build installed, from its packing list. */
function installedFiles(folder: string, into: string): string[] {
  if (!listDir(folder).includes('MANIFEST')) return [];
  return lines(readFileSync(join(folder, 'MANIFEST'), 'utf8'))
    .filter((line) => line.startsWith('lib/'))
    .map((line) => line.replace('lib/', into).trim());
}

async function remove(module: string, details: boolean, ctx: ModuleContext): Promise<Value> {
  const info = await about(module, ctx);
  if ('error' in info) return newDict([['error', info['error'] ?? null]]);
  const version = info['installed version'] ?? null;
  const outcome = newDict(Object.entries({ old: version, new: null }));
  if (version === null) return outcome;
  const builds = info['cpan build dirs'];
  if (!Array.isArray(builds)) return newDict([['error', 'No CPAN data available to use for uninstalling']]);
  const into = String(info['installed file'] ?? '').replace(`${module.replaceAll('::', '/')}.pm`, '');
  const done = newDict();
  for (const file of new Set(builds.flatMap((folder) => installedFiles(String(folder), into)))) {
    done[file] = (await ctx.call('file.remove', file)) ? 'removed' : 'unable to remove';
  }
  if (details) outcome['details'] = done;
  return outcome;
}

const module = p.string({ doc: 'the module' });

export default defineModule({
  name: 'cpan',
  doc: 'Modules of Perl.',
  available: () => which('cpan') !== null || 'Unable to locate cpan. Make sure it is installed and in the PATH.',
  reads: ['list', 'show', 'show_config'],
  functions: {
    install: fn({
      doc: 'Installs a module; versions before and after.',
      examples: ["salt '*' cpan.install Template::Alloy"],
      params: { module },
      async run(args, ctx) {
        const before = await about(args.module, ctx);
        const outcome = newDict(Object.entries({ old: null, new: null }));
        if ((await cpan(['-i', args.module], ctx)).includes("don't know what it is")) {
          outcome['error'] = 'CPAN cannot identify this package';
          return outcome;
        }
        outcome['old'] = before['installed version'] ?? null;
        outcome['new'] = (await about(args.module, ctx))['installed version'] ?? null;
        return outcome;
      },
    }),
    remove: fn({
      doc: 'Removes the files that the build of a module installed.',
      examples: ["salt '*' cpan.remove Old::Package"],
      params: { module, details: p.bool({ default: false, doc: 'list the files' }) },
      run: (args, ctx) => remove(args.module, args.details, ctx),
    }),
    list: fn({
      doc: 'Installed modules with their versions.',
      examples: ["salt '*' cpan.list"],
      async run(_, ctx) {
        const rows = lines(await cpan(['-l'], ctx)).map(words);
        return newDict(rows.filter((row) => row.length > 1).map(([name, version]) => [name ?? '', version ?? '']));
      },
    }),
    show: fn({
      doc: 'Details of a module.',
      examples: ["salt '*' cpan.show Template::Alloy"],
      params: { module },
      run: (args, ctx) => about(args.module, ctx),
    }),
    show_config: fn({
      doc: 'Settings of CPAN.',
      examples: ["salt '*' cpan.show_config"],
      run: (_, ctx) => settings(ctx),
    }),
  },
});
