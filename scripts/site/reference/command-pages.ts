// A page for each command, from its option table, which `--help` and the manual pages show too.
import { commandSpecs } from '../../../src/cli/options/all.ts';
import { type CommandSpec, defaultValues, type OptionSpec, takesValue } from '../../../src/cli/optparse.ts';
import type { Source } from '../sources.ts';
import { escapeText } from './module-pages.ts';

const list = 'docs/reference/commands.md';
const cell = (text: string): string => escapeText(text).replace(/(?<!\\)\|/g, '\\|');

export function commandPages(): Source[] {
  const specs = [...commandSpecs.values()].map((make) => make());
  const rows = specs.map(
    ({ prog, description = '' }) => `| [${prog}](commands/${prog}.md) | ${cell(firstSentence(description))} |`,
  );
  const lines = [
    '# Commands',
    'Options and arguments of every command, as `--help` and `man` show them.',
    '',
    '| Command | |',
    '| --- | --- |',
    ...rows,
  ];
  return [
    { path: list, markdown: `${lines.join('\n')}\n`, made: true },
    ...specs.map((spec) => ({
      path: `docs/reference/commands/${spec.prog}.md`,
      markdown: page(spec),
      made: true,
      under: list,
    })),
  ];
}

const firstSentence = (text: string): string => /^.*?[.:](?=\s|$)/.exec(text)?.[0].replace(/:$/, '.') ?? text;

function page(spec: CommandSpec): string {
  const defaults = defaultValues(spec);
  const table = (options: readonly OptionSpec[]): string[] => [
    '| Option | Meaning |',
    '| --- | --- |',
    ...options.map((option) => {
      const flags = option.flags.map(
        (flag) =>
          `\`${flag}${takesValue(option) && flag.startsWith('--') ? `=${option.metavar ?? option.dest.toUpperCase()}` : ''}\``,
      );
      const help = option.help.replaceAll('%default', String(defaults[option.dest] ?? 'none'));
      return `| ${flags.join(', ')} | ${cell(help)} |`;
    }),
  ];
  const usage = spec.usage
    .replaceAll('%prog', spec.prog)
    .split('\n')
    .map((line) => `    ${line.trim()}`);
  const lines = [
    `# ${spec.prog}`,
    escapeText((spec.description ?? '').replaceAll('%prog', spec.prog)),
    '',
    ...usage,
    '',
    '## Options',
    '',
    ...table(spec.options),
    ...spec.groups.flatMap(({ title, description, options }) => [
      '',
      `## ${title}`,
      ...(description ? [escapeText(description)] : []),
      '',
      ...table(options),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}
