// Converts the settings of `salt` to the request for the master.
import { asDict, type Dict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { parseCliYaml } from '../../base/codec/yaml/cli-value.ts';
import type { ClientOpts } from '../../base/config/opts.ts';
import { parseDuration } from '../../base/util/durations.ts';
import type { BatchRequest, LocalPublish } from '../../engine/client/api.ts';
import { jobOptionNames, readJobOptions } from '../../protocol/wire/messages/job.ts';
import { usageExit } from '../command-line.ts';
import { Exit } from '../main.ts';
import { flagOption, noParseOf, numberOption, type Settings, textOption } from '../settings.ts';
import { type FunctionCall, functionCall, targetKind, targetList } from './arguments.ts';

export interface SaltRequest extends FunctionCall {
  readonly tgt: string | string[];
  readonly tgtType: string;
}

/** Salt's exit code for command lines that optparse accepts and `salt` does not. */
const incomplete = 42;

const leave = (settings: Settings<ClientOpts>, text: string): never => {
  settings.io.err(text);
  throw new Exit(incomplete);
};

/** Target, function and arguments; errors end the command with Salt's texts and codes. */
export async function readRequest(settings: Settings<ClientOpts>): Promise<SaltRequest> {
  const { spec, values, io } = settings;
  const choice = targetKind(values);
  if ('error' in choice) return usageExit(spec, choice.error, io);
  const args = [...settings.args];
  if (flagOption(settings, 'preview_target')) args.push('not_a_valid_command');
  if (flagOption(settings, 'doc')) {
    if (args.length === 0) args.push('*');
    if (args[1] !== 'sys.doc') args.splice(1, 0, 'sys.doc');
    if (args.length > 3) return usageExit(spec, 'You can only get documentation for one method at one time.', io);
  }
  const [target, name, ...words] = args;
  if (target === undefined) return leave(settings, '\nCannot execute command without defining a target.\n\n');
  if (name === undefined) return leave(settings, '\nIncomplete options passed.\n\n');
  const call = functionCall(name, {
    words,
    separator: textOption(settings, 'args_separator'),
    noParse: noParseOf(settings),
  });
  if ('error' in call) return leave(settings, call.error);
  return { tgt: choice.kind === 'list' ? targetList(target) : target, tgtType: choice.kind, ...call };
}

/** Options given as YAML on the command line. */
function yamlOption(settings: Settings<ClientOpts>, dest: string): Value | undefined {
  const value = settings.values[dest];
  if (value === null || value === undefined || value === '') return undefined;
  return typeof value === 'string' ? parseCliYaml(value) : value;
}

function extras(settings: Settings<ClientOpts>): PlainDict {
  const kwargs = newDict();
  const add = (name: string, value: Value | undefined): void => {
    if (value !== undefined && value !== '') kwargs[name] = value;
  };
  add('ret_config', textOption(settings, 'return_config'));
  add('ret_kwargs', yamlOption(settings, 'return_kwargs'));
  add('module_executors', yamlOption(settings, 'module_executors'));
  add('executor_opts', yamlOption(settings, 'executor_opts'));
  add('metadata', yamlOption(settings, 'metadata'));
  if (flagOption(settings, 'start_event')) kwargs['start_event'] = true;
  return kwargs;
}

async function seconds(settings: Settings<ClientOpts>, dest: string): Promise<number | undefined> {
  const text = textOption(settings, dest);
  if (text === '') return undefined;
  try {
    return parseDuration(text);
  } catch {
    return usageExit(
      settings.spec,
      `option --${dest}: invalid time: '${text}'`,
      settings.io,
      'Write for example 90s, 5m or 2h.',
    );
  }
}

function batchOf(settings: Settings<ClientOpts>): BatchRequest | undefined {
  const size = textOption(settings, 'batch');
  const limit = numberOption(settings, 'batch_safe_limit');
  if (size === '' && limit <= 1) return undefined;
  return {
    size,
    wait: numberOption(settings, 'batch_wait'),
    failhard: flagOption(settings, 'failhard'),
    ...(limit > 1 ? { safe_limit: limit, safe_size: numberOption(settings, 'batch_safe_size') } : {}),
  };
}

export async function publishCall(settings: Settings<ClientOpts>, request: SaltRequest): Promise<LocalPublish> {
  const [deadline, durable] = [await seconds(settings, 'deadline'), await seconds(settings, 'durable')];
  const batch = batchOf(settings);
  const timeout = numberOption(settings, 'timeout');
  const subset = numberOption(settings, 'subset');
  const require = textOption(settings, 'require');
  const nodegroups = nodegroupsFor(settings, request);
  return {
    job: {
      ...{ tgt: request.tgt, tgt_type: request.tgtType, fun: request.fun, arg: request.arg },
      ret: textOption(settings, 'return'),
      delimiter: textOption(settings, 'delimiter'),
      timeoutSeconds: timeout > 0 ? timeout : Number(settings.loaded.given['timeout'] ?? 5),
      gatherSeconds: Number(settings.opts.get('gather_job_timeout') ?? 10),
      options: readJobOptions(extras(settings), jobOptionNames),
      unwatched: flagOption(settings, 'async'),
      ...(subset > 0 ? { subset } : {}),
      ...(deadline === undefined ? {} : { deadlineSeconds: deadline }),
      ...(durable === undefined ? {} : { durableSeconds: durable }),
      ...(nodegroups ? { nodegroups } : {}),
    },
    ...(batch ? { batch } : {}),
    ...(require === '' ? {} : { require }),
  };
}

/** Node groups are read when the command runs, so that a new one works without a restart of the master. */
export function nodegroupsFor(settings: Settings<ClientOpts>, { tgt, tgtType }: SaltRequest): Dict | undefined {
  const uses = tgtType === 'nodegroup' || (tgtType === 'compound' && String(tgt).includes('N@'));
  const groups = uses ? settings.opts.get('nodegroups') : undefined;
  return asDict(groups);
}
