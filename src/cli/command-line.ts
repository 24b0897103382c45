// The first step of every command: parses options, or answers --help, --version and usage errors.
import { readFileSync } from 'node:fs';
import { HaliteError } from '../base/errors/index.ts';
import { exitCodes } from '../base/util/exit-codes.ts';
import { haliteVersion, saltCompatVersion } from '../base/util/version.ts';
import { type Terminal, terminal } from './io.ts';
import { Exit, showStacks } from './main.ts';
import { type CommandSpec, type ParsedCommandLine, parseCommandLine } from './optparse.ts';

const debugLevels = new Set(['all', 'garbage', 'trace', 'debug', 'profile']);

/** `salt 3006.27 (Halite 0.1.0)`: the compatible release first, where installers expect it. */
function versionLine(prog: string): string {
  return `${prog} ${saltCompatVersion} (Halite ${haliteVersion})\n`;
}

/** Prints usage and message as optparse does, and exits with 64. */
export async function usageExit(spec: CommandSpec, message: string, io: Terminal, hint?: string): Promise<never> {
  const { formatUsage } = await import('./optparse-help.ts');
  io.err(`${formatUsage(spec)}\n${spec.prog}: error: ${message}\n`);
  if (hint) io.err(`${hint}\n`);
  throw new Exit(exitCodes.usage);
}

export async function printHelp(spec: CommandSpec, io: Terminal): Promise<void> {
  const { formatHelp } = await import('./optparse-help.ts');
  io.out(formatHelp(spec));
}

/** Options and arguments; `Exit` when there is nothing more to do. */
export async function readCommandLine(
  spec: CommandSpec,
  argv: readonly string[],
  io: Terminal = terminal,
): Promise<ParsedCommandLine> {
  const parsed = await parseOrExit(spec, argv, io);
  if (parsed.wants === 'help') {
    await printHelp(spec, io);
    throw new Exit(exitCodes.ok);
  }
  if (parsed.wants === 'version') {
    io.out(versionLine(spec.prog));
    throw new Exit(exitCodes.ok);
  }
  if (parsed.values['versions_report'] === true) {
    const { versionsReport } = await import('./versions-report.ts');
    io.out(await versionsReport());
    throw new Exit(exitCodes.ok);
  }
  const all = parsed.values['args_stdin'] === true ? await withStandardInput(spec, parsed, io) : parsed;
  if (debugLevels.has(String(all.values['log_level'])) || all.values['hard_crash']) showStacks();
  return all;
}

async function parseOrExit(spec: CommandSpec, argv: readonly string[], io: Terminal): Promise<ParsedCommandLine> {
  try {
    return parseCommandLine(spec, argv);
  } catch (error) {
    if (!(error instanceof HaliteError) || error.code !== 'cli.usage') throw error;
    return usageExit(spec, error.message, io, error.hint);
  }
}

/** --args-stdin: each line is one more argument of the command line. */
async function withStandardInput(
  spec: CommandSpec,
  parsed: ParsedCommandLine,
  io: Terminal,
): Promise<ParsedCommandLine> {
  const lines = readFileSync(0, 'utf8').split('\n');
  if (lines.at(-1) === '') lines.pop();
  const words = lines.map((line) => line.replace(/\r+$/, ''));
  const more = await parseOrExit(spec, words, io);
  const values = { ...parsed.values };
  for (const dest of more.explicit) values[dest] = more.values[dest] ?? null;
  return {
    values,
    explicit: new Set([...parsed.explicit, ...more.explicit]),
    args: [...parsed.args, ...more.args],
  };
}
