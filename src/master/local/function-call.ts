// Runners and wheel functions called over the local socket.
import { boolField, textField } from '../../base/codec/fields.ts';
import { asList, asPlainDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { RunnerItem } from '../../engine/client/api.ts';
import { signatureOf } from '../../engine/exec/bind.ts';
import type { Authorization, Caller } from '../authorization/authorization.ts';
import type { Audit } from './audit.ts';
import type { MasterFunctions, MasterKind } from './functions.ts';
import { withoutSecrets } from './option-secrets.ts';
import type { StartedJobs } from './started-jobs.ts';

export interface FunctionCallParts {
  readonly authorization: Pick<Authorization, 'authorizeFunction'>;
  readonly functions: Pick<MasterFunctions, 'start' | 'paramsOf'>;
  readonly started: StartedJobs;
  readonly audit: Pick<Audit, 'note'>;
}

export async function* callFunction(
  parts: FunctionCallParts,
  kind: MasterKind,
  args: PlainDict,
  caller: Caller,
  signal: AbortSignal,
): AsyncIterable<Value> {
  const { authorization, functions, started, audit } = parts;
  const fun = textField(args, 'fun') ?? '';
  const given = asList(args['arg']) ?? [];
  const kwargs = await keywordsFor(parts, kind, fun, args);
  authorization.authorizeFunction(caller, kind, { fun, args: given, kwargs });
  // Clients of the API hear about an unknown function before anything starts.
  if (boolField(args, 'known') && !(await functions.paramsOf(kind, fun)))
    throw new HaliteError('call.unknown', `There is no ${kind === 'runners' ? 'runner' : 'wheel'} function '${fun}'.`);
  const lines: RunnerItem[] = [];
  let wake = (): void => {};
  const add = (line: RunnerItem): void => {
    lines.push(line);
    wake();
  };
  const background = args['async'] === true;
  const run = functions.start(kind, fun, given, kwargs, caller.user, {
    progress: (text) => add({ type: 'progress', text }),
    print: (text) => add({ type: 'print', text }),
    // In the background, and for programs at the API, the function continues after the caller has left.
    ...(background || boolField(args, 'detached') ? {} : { signal }),
  });
  started.note(run.jid, caller);
  void audit.note(caller, args, { what: kind === 'runners' ? 'runner' : 'wheel', fun, jid: run.jid });
  yield { type: 'started', jid: run.jid, user: caller.user };
  if (background) return;
  let done = false;
  const finished = run.result.then((result) => {
    done = true;
    add({
      type: 'result',
      ...(caller.external ? withoutSecrets(kind, fun, [...given, ...Object.values(kwargs)], result) : result),
    });
  });
  signal.addEventListener('abort', () => wake(), { once: true });
  while ((!done || lines.length > 0) && !signal.aborted) {
    const line = lines.shift();
    if (line) yield line as Value;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (done || lines.length > 0 || signal.aborted) resolve();
      });
  }
  if (!signal.aborted) await finished;
}

/**
 * Programs send all keys of a request as keywords (`extra`): those that a runner does not know are dropped, before the
 * rules are asked. What is checked is what runs. A wheel function fails with them, as in Salt, except for the `match` that
 * SaltGUI adds to every call.
 */
async function keywordsFor(
  { functions }: FunctionCallParts,
  kind: MasterKind,
  fun: string,
  args: PlainDict,
): Promise<PlainDict> {
  const kwargs = asPlainDict(args['kwarg']) ?? newDict();
  const extra = asPlainDict(args['extra']);
  if (!extra) return kwargs;
  const params = await functions.paramsOf(kind, fun);
  if (!params) return kwargs;
  const { keywords, kwargs: any } = signatureOf(params);
  const known = Object.entries(extra).filter(
    ([name]) => any !== undefined || keywords.has(name) || (kind === 'wheel' && name !== 'match'),
  );
  return newDict([...known, ...Object.entries(kwargs)]);
}
