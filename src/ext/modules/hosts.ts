// Execution module `hosts`: names and addresses in /etc/hosts.

import { defineModule, dictGet, fn, type ModuleContext, newDict, p, pyStr, type Value } from 'halite/sdk';
import { existsSync, isFile, readFileSync, writeFileSync } from 'halite/sdk/fs';
import { lines, words } from 'halite/sdk/text';

interface Row {
  /** The text of a comment line. */
  readonly only?: string;
  readonly ip: string;
  aliases: string[];
  comment?: string | undefined;
}

function hostsFile(ctx: ModuleContext): string {
  const key = 'hosts.file';
  return pyStr(ctx.opts[key] ?? dictGet(ctx.grains, key) ?? dictGet(ctx.pillar, key) ?? '/etc/hosts');
}

function fileToWrite(ctx: ModuleContext): string | undefined {
  const path = hostsFile(ctx);
  if (!existsSync(path)) writeFileSync(path, '', { mode: 0o644 });
  return isFile(path) ? path : undefined;
}

/** Rows in order; lines of the same address are one row. */
function readRows(ctx: ModuleContext): Row[] {
  const rows: Row[] = [];
  if (!existsSync(hostsFile(ctx))) return rows;
  for (const raw of lines(readFileSync(hostsFile(ctx), 'utf8'))) {
    const line = raw.trim();
    if (line === '') continue;
    if (line.startsWith('#')) {
      rows.push({ only: line, ip: '', aliases: [] });
      continue;
    }
    const at = line.indexOf('#');
    const [ip = '', ...aliases] = words(at < 0 ? line : line.slice(0, at));
    const comment = at < 0 ? undefined : line.slice(at + 1).trimStart();
    const known = rows.find((row) => row.ip === ip);
    if (known) {
      known.aliases.push(...aliases);
      if (comment) known.comment = comment;
    } else rows.push({ ip, aliases, comment: comment || undefined });
  }
  return rows;
}

const rowText = (row: Row): string =>
  row.only ?? `${row.ip}\t\t${row.aliases.join(' ')}${row.comment ? `\t\t# ${row.comment}` : ''}`;

function writeRows(path: string, rows: readonly Row[]): void {
  writeFileSync(path, rows.map((row) => `${rowText(row).trim()}\n`).join(''));
}

const find = (ctx: ModuleContext, ip: string): Row | undefined =>
  readRows(ctx).find((row) => row.ip === ip && row.only === undefined);
const names = (alias: Value): string[] => (Array.isArray(alias) ? alias.map(pyStr) : [pyStr(alias)]);

function hasPair(ctx: ModuleContext, ip: string, alias: Value): boolean {
  const row = find(ctx, ip);
  return row !== undefined && names(alias).every((name) => row.aliases.includes(name));
}

/** Replaces the names of an address, line by line. */
function editLines(
  path: string,
  edit: (ip: string, rest: string[], comment: string | undefined) => string | undefined | null,
): void {
  const made = readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const text = line.trim();
      if (text === '' || text.startsWith('#')) return [line];
      const at = text.indexOf('#');
      const [ip = '', ...rest] = words(at < 0 ? text : text.slice(0, at));
      const now = edit(ip, rest, at < 0 ? undefined : text.slice(at + 1).trim());
      return now === undefined ? [line] : now === null ? [] : [now];
    });
  writeFileSync(path, made.join('\n'));
}

const ip = p.string({ doc: 'the address' });
const alias = p.strings({ doc: 'the name' });

export default defineModule({
  name: 'hosts',
  doc: 'Names and addresses in /etc/hosts.',
  reads: ['list_hosts', 'get_ip', 'get_alias', 'has_pair'],
  functions: {
    list_hosts: fn({
      doc: 'All addresses with their names.',
      examples: ["salt '*' hosts.list_hosts"],
      run(_, ctx) {
        let count = 0;
        return newDict(
          readRows(ctx).map((row): [string, Value] => {
            if (row.only !== undefined) return [`comment-${count++}`, [row.only]];
            return [
              row.ip,
              newDict([
                ['aliases', row.aliases],
                ...(row.comment ? ([['comment', row.comment]] as [string, Value][]) : []),
              ]),
            ];
          }),
        );
      },
    }),
    get_ip: fn({
      doc: 'The address of a name, or empty text.',
      examples: ["salt '*' hosts.get_ip <hostname>"],
      params: { host: p.string() },
      run: (args, ctx) => readRows(ctx).find((row) => row.aliases.includes(args.host))?.ip ?? '',
    }),
    get_alias: fn({
      doc: 'The names of an address.',
      examples: ["salt '*' hosts.get_alias <ip addr>"],
      params: { ip },
      run: (args, ctx) => find(ctx, args.ip)?.aliases ?? [],
    }),
    has_pair: fn({
      doc: 'Whether an address has a name.',
      examples: ["salt '*' hosts.has_pair <ip> <alias>"],
      params: { ip, alias },
      run: (args, ctx) => hasPair(ctx, args.ip, args.alias),
    }),
    set_host: fn({
      doc: 'Gives an address exactly these names; empty text removes it.',
      examples: ["salt '*' hosts.set_host <ip> <alias>"],
      params: { ip, alias: p.string(), comment: p.string({ default: null }) },
      run(args, ctx) {
        const path = fileToWrite(ctx);
        if (!path) return false;
        const row = `${args.ip}\t\t${args.alias}${args.comment ? `\t\t# ${args.comment}` : ''}`;
        const wanted = args.alias.trim() === '' ? null : row;
        let done = false;
        editLines(path, (address) => {
          if (address !== args.ip) return undefined;
          const now = done ? null : wanted;
          done = true;
          return now;
        });
        if (!done && wanted) {
          const text = readFileSync(path, 'utf8');
          writeFileSync(path, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${wanted}\n`);
        }
        return true;
      },
    }),
    rm_host: fn({
      doc: 'Removes a name from an address.',
      examples: ["salt '*' hosts.rm_host <ip> <alias>"],
      params: { ip, alias: p.string({ doc: 'the name' }) },
      run(args, ctx) {
        const path = hasPair(ctx, args.ip, args.alias) ? fileToWrite(ctx) : undefined;
        if (!path) return true;
        editLines(path, (address, rest, comment) => {
          if (address !== args.ip) return undefined;
          const left = rest.filter((name) => name !== args.alias);
          if (left.length === 0) return null;
          return `${address}\t\t${left.map((name) => `${name} `).join('')}${comment ? `# ${comment}` : ''}`;
        });
        return true;
      },
    }),
    add_host: fn({
      doc: 'Adds a name to an address.',
      examples: ["salt '*' hosts.add_host <ip> <alias>"],
      params: { ip, alias },
      run(args, ctx) {
        const path = fileToWrite(ctx);
        if (!path) return false;
        if (hasPair(ctx, args.ip, args.alias)) return true;
        const rows = readRows(ctx);
        const known = rows.find((row) => row.ip === args.ip);
        if (known) known.aliases.push(...names(args.alias));
        else rows.push({ ip: args.ip, aliases: names(args.alias) });
        writeRows(path, rows);
        return true;
      },
    }),
    set_comment: fn({
      doc: 'Sets the comment of an address.',
      examples: ["salt '*' hosts.set_comment <ip> <comment>"],
      params: { ip, comment: p.string() },
      run(args, ctx) {
        const path = fileToWrite(ctx);
        const rows = readRows(ctx);
        const row = rows.find((item) => item.ip === args.ip);
        if (!path || !row) return false;
        if (row.comment === args.comment) return true;
        row.comment = args.comment;
        writeRows(path, rows);
        return true;
      },
    }),
  },
});
