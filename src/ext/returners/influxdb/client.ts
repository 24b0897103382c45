// InfluxDB 1.x over HTTP: points in line protocol, and queries.
import { HaliteError } from 'halite/sdk';
import { jidToMillis } from 'halite/sdk/jobs';
import { basicAuth, type HttpAnswer, hostPort, httpCall } from '../../shared/http/request.ts';

export interface InfluxSettings {
  readonly host: string;
  readonly port: number;
  readonly db: string;
  readonly user: string;
  readonly password: string;
  readonly ssl: boolean;
  readonly verify_ssl: boolean;
  readonly signal: AbortSignal;
}

export interface Point {
  readonly measurement: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
  /** The job id that gives the time of the point, so writing it twice gives one point. */
  readonly jid: string;
}

/** A row of an answer: column or tag → text. */
export type Row = Readonly<Record<string, string>>;

export interface Influx {
  write(points: readonly Point[]): Promise<void>;
  query(sql: string): Promise<Row[]>;
}

const word = (text: string): string => text.replace(/[\r\n]+/g, ' ').replace(/[,= ]/g, '\\$&');
const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;
/** A text literal of a query. */
export const literal = (text: string): string => `'${text.replace(/['\\]/g, '\\$&').replaceAll('\n', '\\n')}'`;

/** Nanoseconds since 1970, or '' for ids without a time: the server then uses its clock. */
function stampOf(jid: string): string {
  const millis = jidToMillis(jid);
  return millis === undefined ? '' : ` ${millis}${jid.slice(17, 20)}000`;
}

/** One point as a line. An empty tag is no tag. */
export function lineOf({ measurement, tags, fields, jid }: Point): string {
  const named = Object.entries(tags).filter(([, value]) => value !== '');
  const head = [word(measurement), ...named.map(([name, value]) => `${word(name)}=${word(value)}`)].join(',');
  const body = Object.entries(fields).map(([name, value]) => `${word(name)}=${quoted(value)}`);
  return `${head} ${body.join(',')}${stampOf(jid)}`;
}

interface Answer {
  readonly results?: readonly { readonly error?: string; readonly series?: readonly Series[] }[];
}
interface Series {
  readonly tags?: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values: readonly (readonly (string | number | null)[])[];
}

export function influx(settings: InfluxSettings): Influx {
  const base = `${settings.ssl ? 'https' : 'http'}://${hostPort(settings.host, settings.port)}`;
  const send = (path: string, params: Record<string, string>, body: string | undefined): Promise<HttpAnswer> =>
    httpCall({
      service: 'influxdb',
      url: `${base}/${path}?${new URLSearchParams(params)}`,
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: basicAuth(settings.user, settings.password) },
      ...(body === undefined ? {} : { body }),
      tls: { verify: settings.verify_ssl },
      accept: [404],
      secrets: [settings.password],
      signal: settings.signal,
    });
  const create = (): Promise<HttpAnswer> =>
    send('query', { q: `CREATE DATABASE ${quoted(settings.db)}` }, '').then(checked(base));
  return {
    async write(points) {
      const text = points.map(lineOf).join('\n');
      const attempt = (): Promise<HttpAnswer> => send('write', { db: settings.db, precision: 'ns' }, text);
      let answer = await attempt();
      // The first result creates the database, as in other stores.
      if (answer.status === 404) {
        await create();
        answer = await attempt();
      }
      checked(base)(answer);
    },
    async query(sql) {
      const answer = await send('query', { db: settings.db, q: sql }, undefined);
      const [result] = (JSON.parse(checked(base)(answer).text) as Answer).results ?? [];
      if (result?.error && !/database not found/.test(result.error)) {
        throw new HaliteError('call.failed', `influxdb at ${new URL(base).host} answered: ${result.error}`);
      }
      return (result?.series ?? []).flatMap(rowsOf);
    },
  };
}

const checked =
  (base: string) =>
  (answer: HttpAnswer): HttpAnswer => {
    if (answer.status !== 404) return answer;
    throw new HaliteError(
      'call.failed',
      `influxdb at ${new URL(base).host} answered 404: ${answer.text.slice(0, 200)}`,
    );
  };

function rowsOf({ tags, columns, values }: Series): Row[] {
  return values.map((row) => {
    const cells: [string, string][] = columns.map((name, i) => [name, String(row[i] ?? '')]);
    return Object.fromEntries([...Object.entries(tags ?? {}), ...cells]);
  });
}
