// From a request below `/halite/v1` to its route: the schemas read it, the master judges it.
import { z } from 'zod';
import { asList, asPlainDict, dictEntries, newDict, PyFloat, type Value } from '../../base/codec/value.ts';
import type { Api } from '../api.ts';
import { callerOf } from '../authenticate.ts';
import { bodyValue } from '../http/body.ts';
import { ApiError } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { agentOf } from './agent.ts';
import { eventRoutes } from './events.ts';
import { fleetRoutes } from './fleet.ts';
import { functionRoutes } from './functions.ts';
import { jobRoutes } from './jobs.ts';
import { keyRoutes } from './keys.ts';
import { liveRoutes } from './live-routes.ts';
import { openApi } from './openapi.ts';
import { operationRoutes } from './operations.ts';
import { notThere } from './problems.ts';
import { openRoute, type Route } from './route.ts';
import { sendJson } from './send.ts';
import { sessionRoutes } from './session.ts';
import { singleSignOnRoutes } from './single-sign-on.ts';

export const root = '/halite/v1';

/** The parts of a path; a part in braces takes any text. */
interface Known {
  readonly route: Route;
  readonly parts: readonly string[];
  /** Of the query: the names of those that are numbers or switches. */
  readonly numbers: ReadonlySet<string>;
  readonly flags: ReadonlySet<string>;
}

const described: Route = openRoute(
  {
    ...{ method: 'GET', path: '/openapi.json', id: 'getOpenApi', tag: 'about' },
    ...{ summary: 'This document.', answer: z.record(z.string(), z.unknown()) },
  },
  async ({ exchange, api }) => {
    document ??= openApi(routes, api.settings.rootPrefix + root);
    sendJson(exchange, document);
  },
);
let document: Value | undefined;

const routes: readonly Route[] = [
  ...[described, ...sessionRoutes, ...fleetRoutes, ...jobRoutes, ...keyRoutes, ...eventRoutes, ...liveRoutes],
  ...[...functionRoutes, ...operationRoutes, ...singleSignOnRoutes],
];

const known: readonly Known[] = routes.map((route) => ({
  route,
  parts: route.path.split('/').slice(1),
  ...kindsOf(route),
}));

function kindsOf({ query }: Route): Pick<Known, 'numbers' | 'flags'> {
  const of = (type: string): Set<string> => {
    if (!query) return new Set();
    const { properties = {} } = z.toJSONSchema(query);
    return new Set(
      Object.entries(properties)
        .filter(
          ([, schema]) =>
            typeof schema === 'object' && (schema.type === type || (type === 'integer' && schema.type === 'number')),
        )
        .map(([name]) => name),
    );
  };
  return { numbers: of('integer'), flags: of('boolean') };
}

export async function serveV1(api: Api, exchange: Exchange, request: string): Promise<void> {
  const parts = exchange.path.slice(root.length).split('/').slice(1);
  const method = exchange.method === 'HEAD' ? 'GET' : exchange.method;
  const fitting = known.filter((each) => fits(each.parts, parts));
  if (fitting.length === 0) throw notThere();
  const found = fitting.find(({ route }) => route.method === method);
  const allow = [...new Set(fitting.map(({ route }) => route.method))].join(', ');
  exchange.response.setHeader('Allow', allow);
  if (!found) throw new ApiError(405, `This path takes ${allow}.`, { headers: { Allow: allow } });
  const { route } = found;
  api.figures.count(`${route.method} ${route.path}`, exchange.response);
  // Who asks comes before what is asked: strangers learn nothing from the errors.
  const caller = route.open ? undefined : await callerOf(api, exchange);
  const asked = {
    ...{ api, exchange, request },
    params: read(route.params, named(found.parts, parts), 'path'),
    query: read(route.query, queryOf(found, exchange.query), 'query'),
    body: route.body ? read(route.body, await bodyOf(exchange), 'body') : undefined,
  };
  if (!caller) {
    await route.run(asked);
    return;
  }
  const about = { agent: agentOf(exchange.request.headers), request };
  const session = api.master.session({ token: caller.token }, exchange.peer.address, about);
  try {
    await route.run(asked, caller, session);
  } finally {
    session.close();
  }
}

const fits = (pattern: readonly string[], parts: readonly string[]): boolean =>
  pattern.length === parts.length &&
  pattern.every((part, at) => part === parts[at] || (part.startsWith('{') && parts[at] !== ''));

const named = (pattern: readonly string[], parts: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    pattern.flatMap((part, at) => (part.startsWith('{') ? [[part.slice(1, -1), parts[at] ?? ''] as const] : [])),
  );

/** Numbers and switches are texts in an address. */
function queryOf({ route, numbers, flags }: Known, query: URLSearchParams): Record<string, unknown> {
  const found: Record<string, unknown> = Object.create(null);
  for (const [name, text] of query) {
    if (Object.hasOwn(found, name)) throw new ApiError(400, `The parameter ${name.slice(0, 64)} is given twice.`);
    if (numbers.has(name)) found[name] = /^-?\d{1,15}$/.test(text) ? Number(text) : text;
    else if (flags.has(name)) found[name] = text === 'true' ? true : text === 'false' ? false : text;
    else found[name] = text;
  }
  const [stranger] = Object.keys(found);
  if (!route.query && stranger !== undefined)
    throw new ApiError(400, `There is no parameter ${stranger.slice(0, 64)} here.`);
  return found;
}

async function bodyOf(exchange: Exchange): Promise<unknown> {
  const body = await exchange.body();
  if (!body) throw new ApiError(400, 'The request needs a body.');
  if (body.type !== 'application/json') throw new ApiError(415, 'The body must be application/json.');
  return plain(bodyValue(body));
}

/** Fields whose values are data of Salt, where 1.0 is not 1. */
const kept = new Set(['arg', 'kwarg', 'metadata']);

/** Numbers are numbers, and maps are plain, except in the data that is passed on. */
function plain(value: Value): Value {
  if (value instanceof PyFloat) return value.value;
  const list = asList(value);
  if (list) return list.map(plain);
  if (value instanceof Map) return newDict(dictEntries(value).map(([key, item]) => [String(key), plain(item)]));
  const dict = asPlainDict(value);
  if (!dict) return value;
  return newDict(Object.entries(dict).map(([key, item]) => [key, kept.has(key) ? item : plain(item)]));
}

/** What the schema says is wrong, without the values. */
function read<S extends z.ZodType>(schema: S | undefined, value: unknown, where: string): unknown {
  if (!schema) return undefined;
  const found = schema.safeParse(value);
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  const at = (issue?.path ?? []).map(String).join('.').slice(0, 128);
  // A path that is not one of ours names nothing that exists.
  if (where === 'path') throw notThere();
  throw new ApiError(
    400,
    `The ${where} is not valid${at === '' ? '' : ` at ${at}`}: ${issue?.message.slice(0, 256) ?? ''}`,
    {
      code: 'call.arguments',
    },
  );
}
