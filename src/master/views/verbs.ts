// The calls of our own API on the local socket: each is judged by the rules of its caller.
import { listTexts, textField } from '../../base/codec/fields.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { JobItem } from '../../engine/client/api.ts';
import type { AskedJob } from '../../protocol/job/job.ts';
import { readCredentials } from '../../protocol/wire/messages/clear.ts';
import { tokenValue } from '../../store/tokens/tokens.ts';
import type { Authorization, Caller } from '../authorization/authorization.ts';
import type { Logins } from '../authorization/logins.ts';
import type { ViewRights } from '../authorization/view-rights.ts';
import type { Audit } from '../local/audit.ts';
import { ownerOf, type StartedJobs } from '../local/started-jobs.ts';
import { fleetPage, watchFleet } from './fleet-view.ts';
import type { FunctionView } from './functions-view.ts';
import { seenJob, type Viewer } from './job-access.ts';
import { type JobActionParts, jobAgain, jobStop } from './job-actions.ts';
import { jobPage } from './job-list.ts';
import { jobReturn, jobReturns, jobView } from './job-view.ts';
import { type JobWatchParts, watchJob, watchJobs } from './job-watch.ts';
import { changeKeys, type KeyViewParts, keyPage, watchKeys } from './key-view.ts';
import { type MinionViewParts, minionPart } from './minion-view.ts';
import { type OperationParts, operation } from './operations.ts';
import { previewFor } from './preview.ts';
import { type SummaryParts, summary, watchSummary } from './summary.ts';

export interface ViewParts {
  readonly authorization: Pick<Authorization, 'authenticateCaller' | 'viewOf'>;
  readonly logins: Pick<Logins, 'permsOf' | 'lookUp' | 'renew'>;
  readonly fleet: MinionViewParts & SummaryParts;
  readonly jobs: JobWatchParts & JobActionParts & { attach(jid: string, signal: AbortSignal): AsyncIterable<JobItem> };
  readonly keys: KeyViewParts;
  readonly operations: OperationParts;
  readonly functions: Pick<FunctionView, 'page'>;
  readonly preview: Parameters<typeof previewFor>[0];
}

/** What the server of the socket has for all calls. */
export interface ViewContext {
  readonly started: StartedJobs;
  readonly audit: Pick<Audit, 'note'>;
  /** Settles when it is known who started the jobs before the last start. */
  readonly restored: Promise<void>;
}

type Items = AsyncIterable<Value>;
export type ViewVerb = (args: PlainDict, caller: Caller, signal: AbortSignal) => Items;

/** A deleted or expired token ends what follows something, and changed rights apply, after this time. */
const renewMs = 5_000;

export interface Views {
  readonly verbs: ReadonlyMap<string, ViewVerb>;
  /** What a repetition of a job asks for; it is not authorized yet. */
  again(args: PlainDict, caller: Caller): Promise<Omit<AskedJob, 'user'>>;
}

export function openViews(parts: ViewParts, context: ViewContext): Views {
  const viewerOf = async (caller: Caller): Promise<Viewer> => {
    await context.restored;
    const owner = ownerOf(caller);
    return {
      rights: parts.authorization.viewOf(caller),
      started: (jid) => context.started.by(jid, owner),
      startedJobs: () => context.started.of(owner),
    };
  };
  const one = (answer: (viewer: Viewer, args: PlainDict, caller: Caller) => Promise<Value> | Value): ViewVerb =>
    async function* (args, caller) {
      yield await answer(await viewerOf(caller), args, caller);
    };
  const watch =
    (follow: (now: () => Promise<Viewer>, args: PlainDict, signal: AbortSignal) => Items): ViewVerb =>
    (args, caller, signal) =>
      follow(renewed(parts, viewerOf, args, caller), args, signal);
  const rightsOf =
    (now: () => Promise<Viewer>): (() => Promise<ViewRights>) =>
    async () =>
      (await now()).rights;
  const verbs: [string, ViewVerb][] = [
    ['rights', one(async (viewer, args, caller) => rightsOfCaller(parts, viewer, args, caller))],
    [
      'renew',
      async function* (args, caller) {
        yield await renew(parts, args, caller);
      },
    ],
    ['fleet', one(({ rights }, args) => fleetPage(parts.fleet, rights, args))],
    ['fleet-watch', watch((now, args, signal) => watchFleet(parts.fleet, rightsOf(now), args, signal))],
    ['summary', one((viewer) => summary(parts.fleet, viewer))],
    ['summary-watch', watch((now, _args, signal) => watchSummary(parts.fleet, now, signal))],
    ['minion', one((viewer, args, caller) => minion(parts, context, viewer, args, caller))],
    ['target', one(({ rights }, args) => previewFor(parts.preview, rights, args))],
    ['jobs', one((viewer, args) => jobPage(parts.fleet, viewer, args))],
    ['jobs-watch', watch((now, _args, signal) => watchJobs(parts.jobs, now, signal))],
    ['job', one((viewer, args) => jobView(parts.jobs, viewer, args))],
    ['job-returns', one((viewer, args) => jobReturns(parts.jobs, viewer, args))],
    ['job-return', one((viewer, args) => jobReturn(parts.jobs, viewer, args))],
    ['job-watch', watch((now, args, signal) => watchJob(parts.jobs, now, args, signal))],
    ['job-follow', (args, caller, signal) => followResults(parts, viewerOf, args, caller, signal)],
    [
      'job-stop',
      one(async (viewer, args, caller) => {
        const done = await jobStop(parts.jobs, viewer, caller, args);
        void context.audit.note(caller, args, {
          what: 'stop',
          target: textField(args, 'jid') ?? '',
          fun: textField(args, 'how') ?? '',
        });
        return done;
      }),
    ],
    ['keys', one(({ rights }, args) => keyPage(parts.keys, rights, args))],
    ['keys-watch', watch((now, _args, signal) => watchKeys(parts.keys, rightsOf(now), signal))],
    [
      'keys-change',
      one(async (_viewer, args, caller) => {
        const done = await changeKeys(parts.keys, caller, args);
        const [ids, changed] = [listTexts(args['ids']), listTexts(done['done'])];
        const result = changed.length === ids.length ? 'ok' : `${changed.length} of ${ids.length}`;
        const fun = `key.${textField(args, 'act') ?? ''}`;
        void context.audit.note(caller, args, { what: 'keys', target: ids.join(','), fun, result });
        return done;
      }),
    ],
    ['functions', one(({ rights }, args) => parts.functions.page(rights, args))],
    ['operation', one(({ rights }, args) => operation(parts.operations, rights, args))],
  ];
  return {
    verbs: new Map(verbs),
    again: async (args, caller) => jobAgain(parts.jobs, await viewerOf(caller), args),
  };
}

/** The caller again, after a while: a stream must not outlive its token. */
function renewed(
  { authorization }: ViewParts,
  viewerOf: (caller: Caller) => Promise<Viewer>,
  args: PlainDict,
  caller: Caller,
): () => Promise<Viewer> {
  const credentials = readCredentials(args);
  const { token } = credentials;
  let viewer = viewerOf(caller);
  let until = Date.now() + renewMs;
  return async () => {
    if (Date.now() < until) return viewer;
    until = Date.now() + renewMs;
    // A password may be valid only once: without a token the first answer stays.
    viewer = token === undefined ? viewerOf(caller) : viewerOf(await authorization.authenticateCaller({ token }));
    return viewer;
  };
}

/** The results of a job: those that are there, then each as it comes. */
async function* followResults(
  { jobs }: ViewParts,
  viewerOf: (caller: Caller) => Promise<Viewer>,
  args: PlainDict,
  caller: Caller,
  signal: AbortSignal,
): Items {
  const { job, ids, whole } = await seenJob(jobs.store, await viewerOf(caller), textField(args, 'jid'));
  const asked = new Set(ids);
  for await (const item of jobs.attach(job.jid, signal))
    if (whole || !('id' in item) || asked.has(item.id)) yield newDict(Object.entries(item));
}

async function rightsOfCaller(parts: ViewParts, viewer: Viewer, args: PlainDict, caller: Caller): Promise<PlainDict> {
  const { rights } = viewer;
  const { external } = caller;
  const found = external ? await parts.logins.lookUp(textField(args, 'token') ?? '') : undefined;
  const runners = rights.mayCall('runners', 'jobs.list_jobs');
  return newDict([
    ['user', caller.user],
    ['eauth', external?.identity.eauth ?? null],
    ['groups', [...(external?.identity.groups ?? [])]],
    ['start', found ? Math.floor(found.start * 1000) : null],
    ['expire', found ? Math.floor(found.expire * 1000) : null],
    ['rules', external ? await parts.logins.permsOf(external.identity) : []],
    [
      'can',
      newDict([
        ['everything', rights.everything],
        ['allMinions', rights.coversAll],
        ['run', rights.unlimited ? 'all' : rights.rules.some(({ scope }) => !scope?.startsWith('@')) ? 'some' : 'none'],
        ['jobs', runners ? 'all' : 'own'],
        ['keys', rights.seesKeys ? 'all' : rights.mayCall('wheel', 'key.list_all') ? 'ids' : 'none'],
        ['acceptKeys', rights.mayCall('wheel', 'key.accept')],
        ['operate', rights.operates],
      ]),
    ],
  ]);
}

/** A new token for an old one, which it does not outlive. */
async function renew({ logins }: ViewParts, args: PlainDict, { external }: Caller): Promise<Value> {
  const token = textField(args, 'token') ?? '';
  const made = external ? await logins.renew(token) : undefined;
  if (!made) throw new HaliteError('auth.failed', 'Authentication failure of type "token" occurred.');
  return tokenValue(made);
}

/** Whoever looks at secret values leaves a trace. */
async function minion(
  parts: ViewParts,
  { audit }: ViewContext,
  viewer: Viewer,
  args: PlainDict,
  caller: Caller,
): Promise<Value> {
  const found = await minionPart(parts.fleet, viewer, args);
  if (args['part'] === 'pillar' && args['values'] === true)
    void audit.note(caller, args, { what: 'pillar', target: textField(args, 'id') ?? '' });
  return found;
}
