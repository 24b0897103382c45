// A route of our own API: its schemas check the requests and describe them in the OpenAPI document.
import type { z } from 'zod';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Api } from '../api.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Caller, MasterSession } from '../master.ts';

export type Shape = z.ZodObject;
type Read<S> = S extends z.ZodType ? z.output<S> : undefined;

/** One request, read. */
export interface Asked<P, Q, B> {
  readonly api: Api;
  readonly exchange: Exchange;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Names this request. */
  readonly request: string;
}

export interface TokenAsked<P, Q, B> extends Asked<P, Q, B> {
  readonly caller: Caller;
  /** The master, in the name of the caller. */
  readonly session: MasterSession;
}

interface Description {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below `/halite/v1`; `{name}` is one part. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly tag: string;
  /** What the caller needs, in words. */
  readonly needs?: string;
  readonly status?: number;
  /** The answer, or its media type when it is no JSON. */
  readonly answer?: z.ZodType;
  readonly media?: readonly string[];
  /** Other statuses that it may have, besides those of every route. */
  readonly fails?: readonly number[];
  /** Names of request headers that it reads. */
  readonly headers?: readonly string[];
}

interface Schemas<P, Q, B> {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
}

/** What the router needs to know; the types of the schemas are known where the route is defined. */
export interface Route extends Description {
  readonly params: Shape | undefined;
  readonly query: Shape | undefined;
  readonly body: z.ZodType | undefined;
  readonly open: boolean;
  run(asked: Asked<unknown, unknown, unknown>, caller?: Caller, session?: MasterSession): Promise<void>;
}

type Defined<P, Q, B> = Description & Schemas<P, Q, B>;

/** Without a token. */
export function openRoute<
  P extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(defined: Defined<P, Q, B>, handle: (asked: Asked<Read<P>, Read<Q>, Read<B>>) => Promise<void>): Route {
  const { params, query, body } = defined;
  return {
    ...defined,
    ...{ params, query, body, open: true },
    // The router has read them with these schemas.
    run: (asked) => handle(asked as Asked<Read<P>, Read<Q>, Read<B>>),
  };
}

export function route<
  P extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(defined: Defined<P, Q, B>, handle: (asked: TokenAsked<Read<P>, Read<Q>, Read<B>>) => Promise<void>): Route {
  const { params, query, body } = defined;
  return {
    ...defined,
    ...{ params, query, body, open: false },
    run: (asked, caller, session) => {
      if (!caller || !session) throw new Error('a route with a token was run without a caller');
      return handle({ ...(asked as Asked<Read<P>, Read<Q>, Read<B>>), caller, session });
    },
  };
}

/** Arguments of a call to the master: what is given, with the names that it knows. */
export const argsOf = (given: Readonly<Record<string, Value | undefined>>): PlainDict =>
  newDict(Object.entries(given).filter((entry): entry is [string, Value] => entry[1] !== undefined));
