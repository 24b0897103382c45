// Execution module `acl`: access lists of files.
import {
  commandError,
  defineModule,
  fn,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { askTool, runTool, which } from 'halite/sdk/system';
import { lines, splitTimes, words } from 'halite/sdk/text';

/** The part of `u:name:rwx` after its kind, with permissions also as a number. */
function permissionsOf(text: string): PlainDict {
  const [read, write, execute] = ['r', 'w', 'x'].map((letter) => text.includes(letter));
  const octal = (read ? 4 : 0) + (write ? 2 : 0) + (execute ? 1 : 0);
  return newDict([
    ['permissions', newDict(Object.entries({ read: read ?? false, write: write ?? false, execute: execute ?? false }))],
    ['octal', octal],
  ]);
}

function addEntry(entry: PlainDict, line: string): void {
  const parts = line.split(':');
  const isDefault = parts[0] === 'default';
  if (isDefault) parts.shift();
  const [kind = '', given = ''] = parts;
  const about = entry['comment'] as PlainDict;
  const name =
    given || (kind === 'user' ? pyStr(about['owner'] ?? '') : kind === 'group' ? pyStr(about['group'] ?? '') : '');
  if (isDefault) entry['defaults'] ??= newDict();
  const target = (isDefault ? entry['defaults'] : entry) as PlainDict;
  const item = newDict([[kind === 'user' || kind === 'group' ? name : '', permissionsOf(parts.at(-1) ?? '')]]);
  if (kind === 'user' || kind === 'group') {
    target[kind] ??= [];
    (target[kind] as Value[]).push(item);
  } else if (kind === 'other' || kind === 'mask') target[kind] = [item];
}

/** What `getfacl` prints: path → owners, flags and entries. */
export function parseAcl(text: string): PlainDict {
  const found = newDict();
  let entry = newDict();
  for (const line of lines(text)) {
    if (line === '' || line.startsWith('getfacl')) continue;
    if (!line.startsWith('#')) {
      addEntry(entry, line.split('\t')[0] ?? '');
      continue;
    }
    const [key = '', value = ''] = splitTimes(line.replace('# ', ''), ': ', 1);
    if (key === 'file') {
      entry = newDict(Object.entries({ comment: newDict(), user: [], group: [] }));
      found[value] = entry;
    }
    (entry['comment'] as PlainDict)[key] = value;
    if (key !== 'flags') continue;
    for (const [at, name] of ['suid', 'sgid', 'sticky'].entries())
      if (value.charAt(at) === (name === 'sticky' ? 't' : 's')) entry[name] = true;
  }
  return found;
}

/** `d:u` and similar prefixes for the kinds that operators write. */
function prefixOf(type: string): string {
  const isDefault = type.startsWith('d');
  const kind = type.replace('default:', '').replace('d:', '');
  const letter = /^(u|user)$/.test(kind) ? 'u' : /^(g|group)$/.test(kind) ? 'g' : /^(m|mask)$/.test(kind) ? 'm' : '';
  return `${isDefault ? 'd:' : ''}${letter}`;
}

function needed(files: readonly Value[]): string[] {
  const paths = files.map(pyStr).filter(Boolean);
  if (paths.length === 0) throw commandError('You need to specify at least one file or directory to work with!');
  return paths;
}

async function setfacl(args: readonly string[], files: readonly string[], kwargs: PlainDict, ctx: ModuleContext) {
  const below = isTruthy(kwargs['recursive']) ? ['-R'] : [];
  const { retcode, stderr } = await runTool(ctx, 'setfacl', [...below, ...args, '--', ...files]);
  if (retcode !== 0 && isTruthy(kwargs['raise_err'])) throw commandError(stderr.trim());
  return true;
}

const args = p.rest({ doc: 'files and folders' });
const kwargs = p.kwargs({ doc: 'recursive, raise_err' });
const acl_type = p.string({ doc: 'user, group, mask, or with `default:` in front' });
const acl_name = p.string({ default: '', doc: 'the user or group; empty for the owner' });

export default defineModule({
  name: 'linux_acl',
  virtualName: 'acl',
  doc: 'Access lists of files.',
  available: () =>
    which('getfacl') !== null ||
    'The linux_acl execution module cannot be loaded: the getfacl binary is not in the path.',
  reads: ['version', 'getfacl'],
  functions: {
    version: fn({
      doc: 'Version of the tools.',
      examples: ["salt '*' acl.version"],
      run: async (_, ctx) => words((await askTool(ctx, 'getfacl', ['--version'])).stdout)[1] ?? '',
    }),
    getfacl: fn({
      doc: 'Access lists of files.',
      examples: ["salt '*' acl.getfacl /tmp/house/kitchen"],
      params: { args, kwargs },
      async run({ args: files, kwargs }, ctx) {
        const below = isTruthy(kwargs['recursive']) ? ['-R'] : [];
        const { stdout } = await askTool(ctx, 'getfacl', ['--absolute-names', ...below, '--', ...needed(files)]);
        return parseAcl(stdout);
      },
    }),
    wipefacls: fn({
      doc: 'Removes all entries but those of owner, group and others.',
      examples: ["salt '*' acl.wipefacls /tmp/house/kitchen"],
      params: { args, kwargs },
      run: ({ args: files, kwargs }, ctx) => setfacl(['-b'], needed(files), kwargs, ctx),
    }),
    modfacl: fn({
      doc: 'Adds or changes an entry.',
      examples: ["salt '*' acl.modfacl user myuser rwx /tmp/house/kitchen"],
      params: { acl_type, acl_name, perms: p.string({ default: '', doc: 'permissions' }), args, kwargs },
      run: ({ acl_type: type, acl_name: name, perms, args: files, kwargs }, ctx) =>
        setfacl(['-m', `${prefixOf(type)}:${name}:${perms}`], needed(files), kwargs, ctx),
    }),
    delfacl: fn({
      doc: 'Removes an entry.',
      examples: ["salt '*' acl.delfacl user myuser /tmp/house/kitchen"],
      params: { acl_type, acl_name, args, kwargs },
      run: ({ acl_type: type, acl_name: name, args: files, kwargs }, ctx) =>
        setfacl(['-x', `${prefixOf(type)}:${name}`], needed(files), kwargs, ctx),
    }),
  },
});
