// The endpoints of Salt's API: their paths, methods, and what stands before them.
import type { Api } from '../api.ts';
import type { ApiError } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Caller } from '../master.ts';
import { events } from './events.ts';
import { hook } from './hook.ts';
import { jobs } from './jobs.ts';
import { generateKeys, keys } from './keys.ts';
import { login, loginPage } from './login.ts';
import { logout } from './logout.ts';
import { minions, startOnMinions } from './minions.ts';
import { root, runLowstate, welcome } from './root.ts';
import { stats } from './stats.ts';
import { token } from './token.ts';

export type Handler = (api: Api, exchange: Exchange, caller: Caller, rest: string) => Promise<void>;
/** `refusal`: why the answer cannot be sent in a form that the client takes. */
export type OpenHandler = (api: Api, exchange: Exchange, rest: string, refusal?: ApiError) => Promise<void>;

export interface Method {
  /** Behind the token check. */
  readonly token?: Handler;
  readonly open?: OpenHandler;
  /** It refuses what is wrong with the request itself, before the form of the answer counts. */
  readonly checks?: boolean;
}

export interface Route {
  readonly path: string;
  /** Whether one more part, or any number, may follow. */
  readonly rest: 'none' | 'one' | 'any';
  readonly methods: Readonly<Record<string, Method>>;
  readonly allow: string;
  /** All methods, also those that do not exist, are behind the token check. */
  readonly guarded: boolean;
  /** Answers are for this user only. */
  readonly private?: boolean;
  /** Not there with `enable_sessions: false`. */
  readonly session?: boolean;
  /** The answer is neither JSON nor YAML. */
  readonly stream?: boolean;
}

const all = 'GET, HEAD, POST';

export function routesOf({ settings }: Api): Route[] {
  const openHooks = settings.webhookDisableAuth;
  const openStats = settings.statsDisableAuth;
  return [
    {
      ...{ path: '/login', rest: 'none', allow: all, guarded: false, session: true },
      methods: { GET: { open: loginPage }, POST: { open: login, checks: true } },
    },
    {
      ...{ path: '/logout', rest: 'none', allow: all, guarded: true, private: true, session: true },
      methods: { POST: { token: logout } },
    },
    { path: '/token', rest: 'none', allow: all, guarded: false, methods: { POST: { open: token } } },
    {
      ...{ path: '/minions', rest: 'one', allow: all, guarded: true, private: true, session: true },
      methods: { GET: { token: minions }, POST: { token: startOnMinions } },
    },
    {
      ...{ path: '/jobs', rest: 'one', allow: all, guarded: true, private: true, session: true },
      methods: { GET: { token: jobs } },
    },
    { path: '/run', rest: 'none', allow: all, guarded: false, methods: { POST: { open: runLowstate } } },
    {
      ...{ path: '/keys', rest: 'one', allow: all, guarded: false },
      methods: { GET: { token: keys }, POST: { open: generateKeys } },
    },
    {
      ...{ path: '/events', rest: 'none', allow: 'GET, HEAD', guarded: true, stream: true },
      methods: { GET: { token: events } },
    },
    {
      ...{ path: settings.webhookUrl, rest: 'any', allow: 'POST', guarded: !openHooks, private: !openHooks },
      methods: {
        POST: openHooks ? { open: (api, exchange, rest) => hook(api, exchange, undefined, rest) } : { token: hook },
      },
    },
    {
      ...{ path: '/stats', rest: 'none', allow: 'GET, HEAD', guarded: !openStats, private: !openStats },
      methods: { GET: openStats ? { open: stats } : { token: stats } },
    },
    {
      ...{ path: '', rest: 'none', allow: all, guarded: false, private: false },
      methods: { GET: { open: welcome }, POST: { token: root } },
    },
  ];
}

/** The route of a path, and what follows its own part. */
export function findRoute(routes: readonly Route[], path: string): { route: Route; rest: string } | undefined {
  for (const route of routes) {
    if (path === route.path) return { route, rest: '' };
    if (route.path === '' || route.rest === 'none' || !path.startsWith(`${route.path}/`)) continue;
    const rest = path.slice(route.path.length + 1);
    if (route.rest === 'any' || !rest.includes('/')) return { route, rest };
  }
  return undefined;
}

/** Part of a path below an endpoint that takes fewer parts. */
export const isBelow = (routes: readonly Route[], path: string): boolean =>
  routes.some((route) => route.path !== '' && path.startsWith(`${route.path}/`));
