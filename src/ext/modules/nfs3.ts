// Execution module `nfs3`: NFS exports.

import {
  commandError,
  defineModule,
  fn,
  isDict,
  newDict,
  type PlainDict,
  p,
  pyStr,
  pythonError,
  type Value,
} from 'halite/sdk';
import { readFileSync, writeFileSync } from 'halite/sdk/fs';
import { runTool, which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';

/** Path → list of `{hosts, options}`. */
export function parseExports(text: string): PlainDict {
  const found = newDict();
  for (const line of lines(text)) {
    const [path, ...clients] = words(line);
    if (path === undefined || line.startsWith('#')) continue;
    const list = [...((found[path] as Value[] | undefined) ?? [])];
    for (const client of clients.filter((word) => !word.startsWith('/'))) {
      const [hosts = '', options = ''] = client.split('(');
      list.push(newDict(Object.entries({ hosts, options: options.replace(')', '').split(',') })));
    }
    for (const share of [path, ...clients.filter((word) => word.startsWith('/'))]) found[share] = list;
  }
  return found;
}

function write(file: string, exports: PlainDict): void {
  const text = Object.entries(exports).map(([path, clients]) => {
    const shown = (clients as Value[]).map((client) => {
      const { hosts, options } = isDict(client) ? (client as { hosts?: Value; options?: Value }) : {};
      return ` ${pyStr(hosts ?? '')}(${Array.isArray(options) ? options.map(pyStr).join(',') : ''})`;
    });
    return `${path}${shown.join('')}\n`;
  });
  writeFileSync(file, text.join(''));
}

const read = (file: string): PlainDict => parseExports(readFileSync(file, 'utf8'));
const exportsFile = p.path({ default: '/etc/exports', doc: 'the file' });
const path = p.string({ default: null, doc: 'the folder' });

export default defineModule({
  name: 'nfs3',
  doc: 'NFS exports.',
  available: () =>
    which('showmount') !== null || 'The nfs3 execution module failed to load: the showmount binary is not in the path.',
  reads: ['list_exports'],
  functions: {
    list_exports: fn({
      doc: 'Shared folders with their clients.',
      examples: ["salt '*' nfs3.list_exports"],
      params: { exports: exportsFile },
      run: (args) => read(args.exports),
    }),
    del_export: fn({
      doc: 'Removes an export.',
      examples: ["salt '*' nfs3.del_export /etc/exports /srv/share"],
      params: { exports: exportsFile, path },
      run(args) {
        const { [args.path ?? '']: gone, ...rest } = read(args.exports);
        if (gone === undefined) throw commandError(`${args.path} is not exported`);
        write(args.exports, newDict(Object.entries(rest)));
        return newDict(Object.entries(rest));
      },
    }),
    add_export: fn({
      doc: 'Adds an export for a client.',
      examples: ["salt '*' nfs3.add_export path='/srv/share' hosts='127.0.0.1' options=['rw']"],
      params: {
        exports: exportsFile,
        path,
        hosts: p.oneOf(['string', 'list'], { default: null, doc: 'the client' }),
        options: p.oneOf(['list', 'string'], { default: null, doc: 'options' }),
      },
      run({ exports, path, hosts, options }) {
        if (typeof hosts !== 'string') throw pythonError('TypeError', 'hosts argument must be a string');
        const all = read(exports);
        const added = newDict(Object.entries({ hosts, options: options ?? [] }));
        all[path ?? ''] = [...((all[path ?? ''] as Value[] | undefined) ?? []), added];
        write(exports, all);
        return added;
      },
    }),
    reload_exports: fn({
      doc: 'Applies the file.',
      examples: ["salt '*' nfs3.reload_exports"],
      async run(_, ctx) {
        const { stdout, stderr } = await runTool(ctx, 'exportfs', ['-r']);
        const said = { stdout: stdout.trimEnd(), stderr: stderr.trimEnd() };
        // The exit code of exportfs is always 0; only its output shows a failure.
        return newDict(Object.entries({ ...said, result: said.stderr === '' }));
      },
    }),
  },
});
