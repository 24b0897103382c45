// Usage and help texts in the layout of Python's optparse.
import { isatty } from 'node:tty';
import { fillText, wrapText } from '../base/util/textwrap.ts';
import { type CommandSpec, defaultValues, type OptionSpec, type OptionValue, takesValue } from './optparse.ts';

const indentStep = 2;
const maxHelpPosition = 24;

interface Layout {
  readonly width: number;
  /** Column where help texts start. */
  readonly position: number;
  readonly defaults: Record<string, OptionValue>;
}

/** `Usage: salt [options] …` with the line end that optparse adds. */
export function formatUsage(spec: CommandSpec): string {
  return `Usage: ${spec.usage.replaceAll('%prog', spec.prog)}\n`;
}

export function formatHelp(spec: CommandSpec, columns = terminalColumns()): string {
  const layout = layoutOf(spec, columns - 2);
  let text = `${formatUsage(spec)}\n`;
  if (spec.description) text += `${paragraph(spec.description.replaceAll('%prog', spec.prog), 0, layout)}\n`;
  const sections = [spec.options.map((option) => formatOption(option, indentStep, layout)).join('')];
  for (const group of spec.groups) {
    const head = `${' '.repeat(indentStep)}${group.title}:\n`;
    const about = group.description ? `${paragraph(group.description, 2 * indentStep, layout)}\n` : '';
    sections.push(head + about + group.options.map((option) => formatOption(option, 2 * indentStep, layout)).join(''));
  }
  text += `Options:\n${sections.join('\n')}`;
  if (spec.epilog) text += `\n${paragraph(spec.epilog, 0, layout)}`;
  return text;
}

function terminalColumns(): number {
  const columns = process.env['COLUMNS'];
  if (columns && /^\d+$/.test(columns)) return Number(columns);
  // Longer lines than that are hard to read.
  return isatty(1) ? Math.min(process.stdout.columns || 80, 110) : 80;
}

function layoutOf(spec: CommandSpec, width: number): Layout {
  const farthest = Math.min(maxHelpPosition, Math.max(width - 20, indentStep * 2));
  let longest = 0;
  for (const option of spec.options) longest = Math.max(longest, synopsis(option).length + indentStep);
  for (const group of spec.groups) {
    for (const option of group.options) longest = Math.max(longest, synopsis(option).length + 2 * indentStep);
  }
  return { width, position: Math.min(longest + 2, farthest), defaults: defaultValues(spec) };
}

function paragraph(text: string, indent: number, layout: Layout): string {
  const room = Math.max(layout.width - indent, 11);
  return `${fillText(text, room, ' '.repeat(indent))}\n`;
}

/** `-t TIMEOUT, --timeout=TIMEOUT` */
function synopsis(option: OptionSpec): string {
  if (!takesValue(option)) return option.flags.join(', ');
  const name = option.metavar ?? option.dest.toUpperCase();
  return option.flags
    .map((flag) => {
      if (!flag.startsWith('--')) return `${flag} ${name}`;
      return option.optionalValue ? `${flag}[=${name}]` : `${flag}=${name}`;
    })
    .join(', ');
}

function formatOption(option: OptionSpec, indent: number, layout: Layout): string {
  const flags = synopsis(option);
  const room = layout.position - indent - 2;
  const own = flags.length > room;
  let text = ' '.repeat(indent) + (own ? `${flags}\n` : `${flags.padEnd(room)}  `);
  const help = option.help.replaceAll('%default', shown(layout.defaults[option.dest]));
  const lines = wrapText(help, Math.max(layout.width - layout.position, 11));
  if (lines.length === 0) return own ? text : `${text}\n`;
  const margin = ' '.repeat(layout.position);
  text += `${own ? margin : ''}${lines[0]}\n`;
  for (const line of lines.slice(1)) text += `${margin}${line}\n`;
  return text;
}

/** A default as Python would print it. */
function shown(value: OptionValue | undefined): string {
  if (value === undefined || value === null) return 'none';
  if (value === true) return 'True';
  if (value === false) return 'False';
  return String(value);
}
