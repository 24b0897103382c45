// The command `halite`: `doctor`, `explain`, `config`, `migrate`, `cluster`, and the procedures that move a master.
import { asText, newDict, type Value } from '../../base/codec/value.ts';
import { parseInput } from '../../base/codec/yaml/cli-value.ts';
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
import { moves, verbs } from './verbs.ts';

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
  // For the build: the pages belong to the version that was built.
  if (verb === 'manual-pages' && words.length === 1) {
    const { writeManPages } = await import('../complete/man-pages.ts');
    return writeManPages(words[0] ?? '');
  }
  if (verb === 'completion' || verb === 'complete') {
    const { complete, printCompletion } = await import('../complete/command.ts');
    if (verb === 'complete') await complete(words, io);
    const wrong = verb === 'completion' ? printCompletion(words, io) : undefined;
    return wrong === undefined ? exitCodes.ok : usageExit(spec, wrong, io);
  }
  // Asked for by another machine that clones this one: the output is the copy, and nothing else.
  if (verb === 'snapshot' && words.length === 1) {
    const { sendSnapshot } = await import('../moving/history/send.ts');
    return sendSnapshot(words[0] ?? '', io);
  }
  if (!verbs.includes(verb)) {
    const meant = nearest(verb, verbs);
    const said =
      verb === ''
        ? 'name a command: doctor, explain <minion or job id>, config, migrate, clone, compare, export, import, backup, restore, cluster, drill, completion or ssh-runtime'
        : `there is no "${verb}"`;
    return usageExit(spec, said, io, meant ? `Did you mean '${meant}'?` : undefined);
  }
  if (verb === 'cluster') {
    const { clusterCommand } = await import('./cluster/command.ts');
    const folder = configDirOf(asText(parsed.values['config_dir']), process.env);
    const [keysFrom = '', sshConfig = ''] = ['keys_from', 'ssh_config'].map((name) => asText(parsed.values[name]));
    await clusterCommand({
      configDir: folder,
      words,
      dryRun: parsed.values['dry_run'] === true,
      io,
      keysFrom,
      sshConfig,
    });
    return exitCodes.ok;
  }
  if (verb === 'ssh-runtime') {
    const { addRuntime } = await import('./ssh-runtime.ts');
    const { opts } = loadSettings({ spec, parsed, load: loadClientConfig, io, quiet: true });
    io.out(`${await addRuntime(opts, words)}\n`);
    return exitCodes.ok;
  }
  if (verb === 'drill') {
    if (words[0] !== 'kill-master') return usageExit(spec, 'the only drill is kill-master', io);
    const { saltRun } = await import('../run/command.ts');
    const folder = asText(parsed.values['config_dir']);
    const options = [
      ...(folder === undefined ? [] : ['-c', folder]),
      ...(parsed.values['dry_run'] === true ? ['--dry-run'] : []),
    ];
    return saltRun([...options, 'cluster.drill', ...words.slice(1)], io);
  }
  const wanted = verb === 'explain' ? 1 : 0;
  const moving = moves.includes(verb);
  if (!moving && verb !== 'migrate' && verb !== 'config' && words.length !== wanted) {
    return usageExit(spec, wanted ? 'explain takes one minion or job id' : `doctor takes no argument: ${words[0]}`, io);
  }
  const settings = loadSettings({ spec, parsed, load: loadClientConfig, io, quiet: true });
  const named = parsed.values['config_dir'];
  const configDir = configDirOf(asText(named), process.env);
  if (moving) {
    const { runLocal } = await import('../moving/command.ts');
    const { args, kwargs } = parseInput(words, {});
    return runLocal(`master.${verb}`, { configDir, args, kwargs, dryRun: parsed.values['dry_run'] === true, io });
  }
  const display = (data: Value): Promise<void> => new Display(outputOptions(settings), io).show(data, undefined, 0);
  const show = textOption(settings, 'output') ? display : undefined;
  if (verb === 'config') {
    const { showConfig } = await import('./config/command.ts');
    return showConfig({ configDir, words, io, show });
  }
  if (verb === 'migrate') {
    const { migrate } = await import('./migrate/command.ts');
    const { args, kwargs } = parseInput(words, {});
    const code = await migrate({ configDir, words: args, kwargs, dryRun: parsed.values['dry_run'] === true, io, show });
    return typeof code === 'string' ? usageExit(spec, code, io) : code;
  }
  return verb === 'doctor' ? doctor(settings, configDir) : explain(settings, configDir, words[0] ?? '');
}
