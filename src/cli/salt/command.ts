// The command `salt`: parses the command line, sends the job to the master, prints the answers.
import { dictHas, isDict, newDict } from '../../base/codec/value.ts';
import { loadClientConfig } from '../../base/config/client.ts';
import type { ClientOpts } from '../../base/config/opts.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import type { LocalClient, LocalPublish } from '../../engine/client/api.ts';
import { connectLocal } from '../../engine/client/local.ts';
import { printHelp, readCommandLine } from '../command-line.ts';
import { type Terminal, terminal } from '../io.ts';
import { loadCommandSettings } from '../links.ts';
import { externalCaller } from '../login.ts';
import { saltSpec } from '../options/salt.ts';
import { Display } from '../output.ts';
import { outputOptions } from '../output-options.ts';
import { flagOption, type Settings, textOption } from '../settings.ts';
import { noMatch } from './no-match.ts';
import { publishAndShow } from './publish-and-show.ts';
import { sendJob } from './reattach.ts';
import { publishCall, readRequest, type SaltRequest } from './request.ts';

async function dumpConfig(settings: Settings<ClientOpts>): Promise<number> {
  const { dumpYaml } = await import('../../base/codec/yaml/dump.ts');
  settings.io.out(dumpYaml(settings.opts.raw, { flow: false }));
  return exitCodes.ok;
}

/** --async: prints the jid and does not wait. */
async function publishOnly(client: LocalClient, call: LocalPublish, io: Terminal): Promise<number> {
  const jid = await sendJob(client, call);
  if (jid === '') return exitCodes.noReturn;
  io.out(`Executed command with job ID: ${jid}\n`);
  return exitCodes.ok;
}

/** Errors about the target are answers for the operator, printed where Salt prints them, with an empty result. */
async function answerFor(error: unknown, settings: Settings<ClientOpts>, display: Display): Promise<number> {
  if (!(error instanceof HaliteError)) throw error;
  if (error.code !== 'target.empty' && error.code !== 'target.syntax') throw error;
  const { io } = settings;
  io.out(`${noMatch}\n`);
  const batch = textOption(settings, 'batch') !== '' && !flagOption(settings, 'static');
  if (!batch && !flagOption(settings, 'async')) await display.show(newDict());
  if (error.code === 'target.syntax') {
    io.err(`${error.message}\n`);
    if (error.hint) io.err(`${error.hint}\n`);
  }
  io.err('ERROR: No return received\n');
  return exitCodes.noReturn;
}

/** Salt's message for a node group that is not in the configuration; unlike in Salt, always a failure. */
function unknownNodegroup(settings: Settings<ClientOpts>, request: SaltRequest): number | undefined {
  if (request.tgtType !== 'nodegroup' || typeof request.tgt !== 'string') return undefined;
  const groups = settings.opts.get('nodegroups');
  if (isDict(groups) && dictHas(groups, request.tgt)) return undefined;
  settings.io.out(`Node group ${request.tgt} unavailable in ${settings.opts.conf_file}\n`);
  return exitCodes.noReturn;
}

async function withMaster(settings: Settings<ClientOpts>, request: SaltRequest): Promise<number> {
  const extra = { fun: request.fun, arg: request.arg };
  const display = new Display(outputOptions(settings, extra), settings.io);
  const client = await connectLocal(settings.opts, await externalCaller(settings, true));
  try {
    if (flagOption(settings, 'preview_target')) {
      return await (await import('./preview.ts')).showPreview(client, settings, request, display);
    }
    const call = await publishCall(settings, request);
    // As in Salt: a batch is watched, even with --async.
    if (call.job.unwatched && !call.batch?.size) return await publishOnly(client, call, settings.io);
    return await publishAndShow(client, settings, call, display);
  } catch (error) {
    return await answerFor(error, settings, display);
  } finally {
    client.close();
  }
}

/** Runs `salt` with these arguments and returns its exit code. */
export async function salt(argv: readonly string[], io: Terminal = terminal): Promise<number> {
  const spec = saltSpec();
  const parsed = await readCommandLine(spec, argv, io);
  const settings = await loadCommandSettings({ spec, parsed, load: loadClientConfig, io });
  const lacking = settings.args.length <= 1 && !flagOption(settings, 'doc') && !flagOption(settings, 'preview_target');
  if (lacking && !flagOption(settings, 'config_dump')) await printHelp(spec, io);
  if (flagOption(settings, 'config_dump')) return dumpConfig(settings);
  const request = await readRequest(settings);
  return unknownNodegroup(settings, request) ?? withMaster(settings, request);
}
