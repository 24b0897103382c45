// Contexts of files and ports as `semanage` and `restorecon` print them.
import { invocationError, newDict, type PlainDict } from 'halite/sdk';
import { lines } from 'halite/sdk/text';

const fileTypes: Readonly<Record<string, string>> = {
  a: 'all files',
  f: 'regular file',
  d: 'directory',
  c: 'character device',
  b: 'block device',
  s: 'socket',
  l: 'symbolic link',
  p: 'named pipe',
};

export function fileTypeText(letter: string): string {
  const text = fileTypes[letter];
  if (text === undefined) throw invocationError(`Invalid filetype given: ${letter}`);
  return text;
}

const parts = ['sel_user', 'sel_role', 'sel_type', 'sel_level'] as const;

/** `user:role:type:level` by name. */
function contextOf(text: string): PlainDict {
  const match = /^([^:]+):([^:]+):([^:]+):(.+)$/.exec(text);
  if (!match)
    throw invocationError(`Invalid SELinux context string: ${text}. Expected "sel_user:sel_role:sel_type:sel_level"`);
  return newDict(parts.map((part, at) => [part, match[at + 1] ?? '']));
}

export interface FilePolicy {
  readonly name: string;
  readonly filetype?: string | null;
  readonly sel_type?: string | null;
  readonly sel_user?: string | null;
  readonly sel_level?: string | null;
}

/** The line of `semanage fcontext -l` that matches all given fields. */
export function findFilePolicy(text: string, asked: FilePolicy): PlainDict | null {
  const type = asked.filetype ? fileTypeText(asked.filetype) : undefined;
  for (const line of lines(text)) {
    if (!line.startsWith(`${asked.name} `)) continue;
    const match = /^ +([a-z]+(?: [a-z]+)*) +(\S+)\s*$/.exec(line.slice(asked.name.length));
    if (!match || (type !== undefined && match[1] !== type)) continue;
    const context = /^[^:]+:[^:]+:[^:]+:.+$/.test(match[2] ?? '') ? contextOf(match[2] ?? '') : undefined;
    const fits = (key: 'sel_type' | 'sel_user' | 'sel_level'): boolean => !asked[key] || context?.[key] === asked[key];
    if (context && fits('sel_type') && fits('sel_user') && fits('sel_level'))
      return newDict([['filespec', asked.name], ['filetype', match[1] ?? ''], ...Object.entries(context)]);
  }
  return null;
}

/** The line of `semanage port -l` that names the port. */
export function findPortPolicy(
  text: string,
  asked: { sel_type: string | null; protocol: string; port: string },
): PlainDict | null {
  for (const line of lines(text)) {
    const match = /^(\w+) +(\w+) +([\d\-, ]+)/.exec(line);
    if (!match || match[2] !== asked.protocol || (asked.sel_type && match[1] !== asked.sel_type)) continue;
    const ports = (match[3] ?? '').split(',').map((port) => port.trim());
    if (ports.includes(asked.port))
      return newDict(
        Object.entries({ sel_type: match[1] ?? '', protocol: match[2] ?? '', port: (match[3] ?? '').trim() }),
      );
  }
  return null;
}

/** `tcp/8080`, or protocol and port on their own. */
export function protocolAndPort(name: string, protocol: string | null, port: string | null): [string, string] {
  const pattern = /^(tcp|udp)\/(\d+-?\d+)$/;
  const match = pattern.exec(name) ?? pattern.exec(`${protocol}/${port}`);
  if (!match)
    throw invocationError(
      `Invalid name "${name}" format and protocol and port not provided or invalid: "${protocol ?? 'None'}" "${port ?? 'None'}".`,
    );
  return [match[1] ?? '', match[2] ?? ''];
}

/** The changes that `restorecon -n -v` prints: path → old and new parts; undefined for other output. */
export function relabelled(text: string): PlainDict | undefined {
  const pattern = text.startsWith('Would relabel')
    ? /^Would relabel (.*) from (.*) to (.*)$/
    : text.startsWith('restorecon reset')
      ? /^restorecon reset (.*) context (.*)->(.*)$/
      : undefined;
  if (!pattern) return undefined;
  const changes = newDict();
  for (const line of lines(text)) {
    const match = pattern.exec(line);
    if (!match) continue;
    const [old, now] = [contextOf(match[2] ?? ''), contextOf(match[3] ?? '')];
    const differing = parts.filter((part) => old[part] !== now[part]);
    changes[match[1] ?? ''] = newDict([
      ['old', newDict(differing.map((part) => [part, old[part] ?? '']))],
      ['new', newDict(differing.map((part) => [part, now[part] ?? '']))],
    ]);
  }
  return changes;
}
