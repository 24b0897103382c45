// The OpenAPI document of our own API, made from the schemas that check its requests.
import { z } from 'zod';
import { parseValue } from '../../base/codec/json/index.ts';
import type { Value } from '../../base/codec/value.ts';
import { problemType } from './problems.ts';
import type { Route } from './route.ts';
import { problem } from './schemas.ts';

type Json = { readonly [name: string]: unknown };

/** The schema without the note of its dialect, which the document has once. */
function schemaOf(schema: z.ZodType): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'output' });
  return rest;
}

function parametersOf({ params, query, headers = [] }: Route): Json[] {
  const from = (shape: z.ZodObject | undefined, where: 'path' | 'query'): Json[] => {
    if (!shape) return [];
    const { properties, required } = z.toJSONSchema(shape, { unrepresentable: 'any', io: 'output' });
    return Object.entries(properties ?? {}).map(([name, schema]) => ({
      ...{ name, in: where, schema },
      required: where === 'path' || (required ?? []).includes(name),
    }));
  };
  const named = headers.map((name) => ({ name, in: 'header', required: false, schema: { type: 'string' } }));
  return [...from(params, 'path'), ...from(query, 'query'), ...named];
}

const texts: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'There is no valid token.',
  403: 'The caller may not do this.',
  404: 'There is no such thing for this caller.',
  413: 'The body is too large.',
  415: 'The body is no JSON.',
  422: 'It cannot be done now, or the key was used for another request.',
  429: 'Too many at the same time.',
  503: 'The master is not available.',
  504: 'It still runs.',
};

function answersOf(route: Route): Json {
  const { status = 200, answer, media = [], open, params, body, fails = [] } = route;
  const content = {
    ...(answer ? { 'application/json': { schema: schemaOf(answer) } } : {}),
    ...Object.fromEntries(media.map((type) => [type, {}])),
  };
  const failures = new Set([
    ...[400, 429, 503],
    ...(open ? [] : [401, 403]),
    ...(open && body ? [401] : []),
    ...(params ? [404] : []),
    ...(body ? [413, 415] : []),
    ...fails,
  ]);
  const ready = route.id === 'getReadiness' ? { 503: { description: 'Not ready.', content } } : {};
  return {
    [status]: { description: route.summary, ...(Object.keys(content).length > 0 ? { content } : {}) },
    ...(route.method === 'GET' && answer ? { 304: { description: 'It has not changed.' } } : {}),
    ...Object.fromEntries(
      [...failures].map((code) => [
        code,
        { description: texts[code], content: { [problemType]: { schema: reference } } },
      ]),
    ),
    ...ready,
  };
}

const reference = { $ref: '#/components/schemas/Problem' };

function operationOf(route: Route): Json {
  const parameters = parametersOf(route);
  return {
    ...{ operationId: route.id, summary: route.summary, tags: [route.tag] },
    ...(route.needs ? { description: `Needs: ${route.needs}.` } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body
      ? { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(route.body) } } } }
      : {}),
    responses: answersOf(route),
    ...(route.open ? { security: [] } : {}),
  };
}

export function openApi(routes: readonly Route[], server: string): Value {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    path[route.method.toLowerCase()] = operationOf(route);
    paths[route.path] = path;
  }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Halite', version: '1', description: 'The API of a Halite master. See docs/guide/api.md.' },
    servers: [{ url: server }],
    security: [{ header: [] }, { bearer: [] }, { cookie: [] }],
    paths,
    components: {
      securitySchemes: {
        header: { type: 'apiKey', in: 'header', name: 'X-Auth-Token' },
        bearer: { type: 'http', scheme: 'bearer' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'session_id' },
      },
      schemas: { Problem: schemaOf(problem) },
    },
  };
  return parseValue(JSON.stringify(document));
}
