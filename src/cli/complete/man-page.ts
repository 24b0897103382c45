// A manual page of a command, in the language of man(7), from its option table.
import { type CommandSpec, defaultValues, type OptionSpec, takesValue } from '../optparse.ts';

const seeAlso = [
  'halite',
  'salt',
  'salt-api',
  'salt-call',
  'salt-cp',
  'salt-key',
  'salt-master',
  'salt-minion',
  'salt-proxy',
  'salt-run',
  'salt-syndic',
  'salt-ssh',
];

/** A text may not begin with a control character of roff, and backslashes and hyphens have meanings of their own. */
const plain = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

const files: Readonly<Record<string, readonly string[]>> = {
  'salt-minion': ['/etc/salt/minion', '/etc/salt/minion.d/*.conf', '/etc/salt/pki/minion', '/var/log/salt/minion'],
  'salt-call': ['/etc/salt/minion', '/etc/salt/minion.d/*.conf'],
  'salt-proxy': ['/etc/salt/proxy', '/etc/salt/proxy.d/*/*.conf', '/etc/salt/pki/proxy', '/var/log/salt/proxy'],
  'salt-syndic': ['/etc/salt/master', '/etc/salt/minion', '/etc/salt/pki/minion', '/var/log/salt/syndic'],
  'salt-ssh': ['/etc/salt/master', '/etc/salt/master.d/*.conf', '/etc/salt/roster'],
};
const masterFiles = ['/etc/salt/master', '/etc/salt/master.d/*.conf', '/etc/salt/pki/master'];

/** `version`: of Halite. */
export function manPage(spec: CommandSpec, version: string): string {
  const { prog, description = '', epilog } = spec;
  const usage = spec.usage.replaceAll('%prog', prog);
  const defaults = defaultValues(spec);
  const list = (options: readonly OptionSpec[]): string[] => options.flatMap((option) => optionLines(option, defaults));
  const summary = (description.split(/[:.] /, 1)[0] ?? '').replaceAll('%prog', prog) || `command ${prog}`;
  const lines = [
    `.TH ${prog.toUpperCase()} 1 "" "Halite ${version}" "Halite"`,
    ...['.SH NAME', `${plain(prog)} \\- ${plain(summary.replace(/\.$/, ''))}`],
    ...['.SH SYNOPSIS', ...usage.split('\n').flatMap((line) => ['.B', plain(line.trim()), '.br'])],
    ...(description === '' ? [] : ['.SH DESCRIPTION', plain(description.replaceAll('%prog', prog))]),
    ...['.SH OPTIONS', ...list(spec.options)],
    ...spec.groups.flatMap(({ title, description: about, options }) => [
      `.SS ${plain(title)}`,
      ...(about ? [plain(about)] : []),
      ...list(options),
    ]),
    ...['.SH FILES', ...(files[prog] ?? masterFiles).flatMap((file) => [plain(file), '.br'])],
    ...(epilog ? ['.SH NOTES', plain(epilog.replaceAll('%prog', prog))] : []),
    '.SH SEE ALSO',
    seeAlso
      .filter((other) => other !== prog)
      .map((other) => `.BR ${plain(other)} (1)`)
      .join(' ,\n'),
  ];
  return `${lines.join('\n')}\n`;
}

function optionLines(option: OptionSpec, defaults: ReturnType<typeof defaultValues>): string[] {
  const value = takesValue(option) ? `=\\fI${plain(option.metavar ?? option.dest.toUpperCase())}\\fR` : '';
  const flags = option.flags.map((flag) => `\\fB${plain(flag)}\\fR${flag.startsWith('--') ? value : ''}`);
  const help = option.help.replaceAll('%default', String(defaults[option.dest] ?? 'none'));
  return ['.TP', flags.join(', '), plain(help)];
}
