// The command `halite`: `doctor` and `explain`.
import { asText, newDict, type Value } from '../../base/codec/value.ts';
import { loadClientConfig } from '../../base/config/client.ts';
import { configDirOf } from '../../base/config/load-files.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import { isJid } from '../../base/util/jid.ts';
import { nearest } from '../../base/util/nearest.ts';
import { readCommandLine, usageExit } from '../command-line.ts';
import { type Terminal, terminal } from '../io.ts';
import { haliteSpec } from '../options/halite.ts';
import { Display } from '../output.ts';
import { outputOptions } from '../output-options.ts';
import { loadSettings, type Settings, textOption } from '../settings.ts';
import type { Finding } from './doctor/finding.ts';

const verbs = ['doctor', 'explain'];
type Loaded = Settings<ReturnType<typeof loadClientConfig>['opts']>;

const asValue = (finding: Finding): Value => newDict(Object.entries(finding) as [string, Value][]);

async function doctor(settings: Loaded, configDir: string): Promise<number> {
  const { examineMachine } = await import('./doctor/machine.ts');
  const { findings, masterRuns, roles } = await examineMachine(configDir);
  if (roles.length === 0) {
    throw new HaliteError('config.missing', `There is neither a master nor a minion configuration in ${configDir}`, {
      hint: 'Name its folder with -c.',
    });
  }
  if (masterRuns) {
    const { examineFleet } = await import('./doctor/fleet.ts');
    const repair = 'see its log file, then: systemctl restart salt-master';
    const lost = (error: unknown): Finding[] => [
      { level: 'problem', about: 'master', what: `The master runs but does not answer: ${messageOf(error)}`, repair },
    ];
    findings.push(...(await examineFleet(configDir).catch(lost)));
  }
  if (textOption(settings, 'output')) {
    await new Display(outputOptions(settings), settings.io).show(findings.map(asValue), undefined, 0);
  } else {
    const { reportText } = await import('./doctor/report.ts');
    settings.io.out(reportText(findings));
  }
  return findings.some(({ level }) => level === 'problem') ? exitCodes.generic : exitCodes.ok;
}

async function explain(settings: Loaded, configDir: string, what: string): Promise<number> {
  const { askRunner } = await import('./ask-runner.ts');
  const fun = isJid(what) ? 'jobs.explain' : 'manage.explain';
  const told = await askRunner(configDir, fun, [what], newDict());
  await new Display(outputOptions(settings), settings.io).show(told, undefined, 0);
  return exitCodes.ok;
}

/** Runs `halite` with these arguments and returns its exit code. */
export async function halite(argv: readonly string[], io: Terminal = terminal): Promise<number> {
  const spec = haliteSpec();
  const parsed = await readCommandLine(spec, argv, io);
  const [verb = '', ...words] = parsed.args;
  if (!verbs.includes(verb)) {
    const meant = nearest(verb, verbs);
    const said = verb === '' ? 'name a command: doctor, or explain <minion or job id>' : `there is no "${verb}"`;
    return usageExit(spec, said, io, meant ? `Did you mean '${meant}'?` : undefined);
  }
  const wanted = verb === 'explain' ? 1 : 0;
  if (words.length !== wanted) {
    return usageExit(spec, wanted ? 'explain takes one minion or job id' : `doctor takes no argument: ${words[0]}`, io);
  }
  const settings = loadSettings({ spec, parsed, load: loadClientConfig, io, quiet: true });
  const named = parsed.values['config_dir'];
  const configDir = configDirOf(asText(named), process.env);
  return verb === 'doctor' ? doctor(settings, configDir) : explain(settings, configDir, words[0] ?? '');
}
